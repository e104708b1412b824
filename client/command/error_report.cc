// SPDX-License-Identifier: Apache-2.0
#include "client/command/error_report.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "client/command/json_output.h"
#include "client/command/quantity.h"
#include "client/error_details.h"

namespace reel::client {
namespace {

struct FieldFlag {
  const char* field;
  const char* flag;
};

// Longer paths come before their prefixes.
constexpr FieldFlag kFlags[] = {
    {"spec.model", "--model"},
    {"spec.prompt", "prompt"},
    {"spec.negative_prompt", "--negative-prompt"},
    {"spec.width", "--width"},
    {"spec.height", "--height"},
    {"spec.num_frames", "--frames"},
    {"spec.frame_rate", "--fps"},
    {"spec.num_inference_steps", "--steps"},
    {"spec.timesteps", "--timesteps"},
    {"spec.guidance_scale", "--guidance"},
    {"spec.guidance_rescale", "--guidance-rescale"},
    {"spec.audio_guidance_scale", "--audio-guidance-scale"},
    {"spec.audio_guidance_rescale", "--audio-guidance-rescale"},
    {"spec.stg_scale", "--stg-scale"},
    {"spec.audio_stg_scale", "--audio-stg-scale"},
    {"spec.stg_blocks", "--stg-blocks"},
    {"spec.modality_scale", "--modality-scale"},
    {"spec.audio_modality_scale", "--audio-modality-scale"},
    {"spec.condition_crf", "--image-crf"},
    {"spec.conditions", "--image, --last-image, --condition, --reference, --sound"},
    {"spec.adapters", "--adapter"},
    {"spec.sound", "--no-sound"},
    {"spec.source.extend.join", "--join"},
    {"spec.source.extend.num_frames", "--frames"},
    {"spec.source.extend.overlap_frames", "--overlap"},
    {"spec.normalise_loudness", "--normalise-loudness"},
    {"spec.stop_after_pass", "--draft"},
    {"spec.seed", "--seed"},
    {"spec.denoise_strength", "--denoise-strength"},
    {"spec.decode_timestep", "--decode-timestep"},
    {"spec.preset", "--preset"},
    {"spec.worker", "--worker"},
    {"spec.kernels.variants", "--kernel"},
    {"spec.kernels.profile", "--kernels"},
    {"spec.kernels.experiment", "--experiment"},
    {"spec.kernels.arm", "--arm"},
    {"spec.kernels", "--kernels"},
    {"spec.cache.threshold", "--cache-threshold"},
    {"spec.cache.most_reused", "--cache-most-reused"},
    {"spec.preview.every_steps", "--preview-every"},
    {"spec.preview", "--preview-every"},
    {"spec.encoding.crf", "--crf"},
    {"spec.encoding.speed", "--speed"},
    {"spec.encoding.origin", "--origin"},
    {"count", "--count"},
    {"request_id", "--request-id"},
    {"priority", "--priority"},
    {"timeout", "--timeout"},
    {"labels", "--label"},
};

struct ReasonHint {
  const char* reason;
  const char* hint;
};

constexpr ReasonHint kHints[] = {
    {"INVALID_SPEC", "`reel models` shows what each model accepts."},
    {"UNKNOWN_KERNEL", "`reel kernels` lists operators and variants."},
    {"KERNEL_UNAVAILABLE", "`reel kernels` says which variants run here, and why others do not."},
    {"TOO_LARGE_FOR_DEVICE",
     "Ask for a smaller or shorter video: `reel estimate` shows its memory, `reel info` what "
     "the devices have."},
    {"MODEL_NOT_FOUND", "`reel models` lists what is served."},
    {"VIDEO_NOT_FOUND", "`reel list` shows your videos; finished ones expire after a while."},
    {"WRONG_REPLICA",
     "Ask the server that made it: `reel info --server HOST:PORT` shows the replica of each."},
    {"FLEET_UNAVAILABLE",
     "The servers' common log or store is away or full; try again with the same --request-id."},
    {"VIDEO_EXPIRED", "Render it again with another --request-id."},
    {"REQUEST_ID_CONFLICT",
     "Use a new --request-id for another spec, or leave it out: a random one is used."},
    {"VIDEO_NOT_READY", "`reel watch NAME -o FILE` waits until it is finished, and writes it."},
    {"FILE_NOT_FOUND", "Run the command again: it sends the file once more."},
    {"STATE_GONE",
     "Make the video again: `reel generate` keeps what is needed of it with --draft, and each "
     "command that renders with --keep-state."},
    {"STATE_NOT_FOR_MODEL", "Make the video again with the model as it is served now."},
    {"ADAPTER_CHANGED", "Ask again: `reel models` lists the adapters as they are now."},
    {"ADAPTER_BROKEN", "Whoever runs the server has to look at the adapter's file."},
    {"ADAPTER_NOT_FOR_MODEL", "`reel models` lists the adapters of each model."},
    {"VIDEO_NOT_FINAL", "Cancel it first: `reel cancel NAME`."},
    {"DEADLINE_UNREACHABLE", "Allow more time with --timeout, or ask for fewer steps or frames."},
    {"DEADLINE_PASSED", "Allow more time with --timeout, or ask for fewer steps or frames."},
    {"TENANT_QUOTA",
     "`reel list` shows your videos; `reel cancel NAME` ends one, `reel delete NAME` frees its "
     "space."},
    {"STORE_FULL", "`reel delete NAME` frees space on the server."},
    {"MODEL_NOT_READY", "The server is still loading; `reel doctor` shows when it is ready."},
    {"NO_DEVICE", "`reel info` shows the server's workers, and why one is out."},
    {"WORKER_NOT_FOUND", "`reel info` lists the workers."},
    {"UNAUTHENTICATED", "Pass a file with a valid token: --token-file FILE."},
};

// The connection was made and then closed, as a server with TLS does to clients without.
bool IsHungUp(const absl::Status& status) {
  for (const char* sign : {"Socket closed", "handshake", "Connection reset"}) {
    if (absl::StrContains(status.message(), sign)) return true;
  }
  return false;
}

std::string Hint(const absl::Status& status, const ErrorDetails& details,
                 const std::string& server) {
  if (details.reason.empty() && status.code() == absl::StatusCode::kUnavailable) {
    if (absl::StrContains(status.message(), "a detached one keeps running")) {
      return "With --detach the job survives a broken connection, and the command reconnects to "
             "it.";
    }
    if (IsHungUp(status)) {
      return "Something listens there but closed the connection: does it want TLS (--tls, --tls-ca "
             "FILE), or a client certificate (--tls-cert, --tls-key)? `reel doctor` finds out "
             "more.";
    }
    return "Start a server with `reeld`, or name another one with --server HOST:PORT or "
           "REEL_SERVER; `reel doctor` finds out more.";
  }
  if (details.reason.empty() && status.code() == absl::StatusCode::kUnimplemented) {
    return absl::StrCat("The server at ", server, " is not a Reel server, or an older one.");
  }
  for (const ReasonHint& hint : kHints) {
    if (details.reason == hint.reason) return hint.hint;
  }
  if (details.retry_after) {
    return absl::StrCat("Try again in ", HumanDuration(*details.retry_after), ".");
  }
  return "";
}

std::string Printable(std::string text) {
  for (char& byte : text) {
    if (static_cast<unsigned char>(byte) < ' ' || byte == '\x7F') byte = ' ';
  }
  return text;
}

// The server's message begins with the first violation; all of them follow here, one a line.
std::string ViolationsHeadline(size_t count) {
  return count == 1 ? "The request breaks a rule:"
                    : absl::StrCat("The request breaks ", count, " rules:");
}

// Shortens gRPC's text for an unreachable server.
std::string Headline(const absl::Status& status, const std::string& server) {
  const std::string message = Printable(std::string(status.message()));
  if (message.empty()) return absl::StatusCodeToString(status.code());
  if (status.code() != absl::StatusCode::kUnavailable ||
      !absl::StartsWith(message, "failed to connect")) {
    return message;
  }
  const size_t cause = message.rfind(": ");
  return absl::StrCat("No Reel server answers at ", server,
                      cause == std::string::npos ? "" : message.substr(cause), ".");
}

// "--image fox.png" for "spec.conditions[0].image"; none: empty.
std::string ConditionOf(absl::string_view field, const std::vector<std::string>& conditions) {
  size_t place = 0;
  if (!absl::ConsumePrefix(&field, "spec.conditions[") ||
      !absl::SimpleAtoi(field.substr(0, field.find(']')), &place)) {
    return "";
  }
  return place < conditions.size() ? conditions[place] : "";
}

}  // namespace

std::string FlagOf(const std::string& field, const std::vector<std::string>& conditions) {
  const std::string condition = ConditionOf(field, conditions);
  if (!condition.empty()) return condition;
  for (const FieldFlag& entry : kFlags) {
    if (field == entry.field) return entry.flag;
    if (!absl::StartsWith(field, entry.field)) continue;
    const char next = field[std::string_view(entry.field).size()];
    if (next == '[' || next == '.') return entry.flag;
  }
  return field;
}

std::string ReportError(const absl::Status& status, const Asked& asked, bool color) {
  const ErrorDetails details = DetailsOf(status);
  const std::string headline = details.violations.empty()
                                   ? Headline(status, asked.server)
                                   : ViolationsHeadline(details.violations.size());
  std::string text = absl::StrCat(color ? "\033[1;31merror:\033[0m " : "error: ", headline, "\n");
  for (const FieldViolation& violation : details.violations) {
    absl::StrAppend(&text, "  ", Printable(FlagOf(violation.field, asked.conditions)), ": ",
                    Printable(violation.description), "\n");
  }
  for (const std::string& failure : details.failures) {
    absl::StrAppend(&text, "  ", Printable(failure), "\n");
  }
  const std::string hint = Hint(status, details, asked.server);
  if (!hint.empty()) absl::StrAppend(&text, "hint: ", hint, "\n");
  return text;
}

std::string ErrorJson(const absl::Status& status) {
  const ErrorDetails details = DetailsOf(status);
  std::string json =
      absl::StrCat("{\"error\":{\"code\":", JsonString(absl::StatusCodeToString(status.code())),
                   ",\"message\":", JsonString(std::string(status.message())));
  if (!details.reason.empty()) {
    absl::StrAppend(&json, ",\"reason\":", JsonString(details.reason));
  }
  std::string violations;
  for (const FieldViolation& violation : details.violations) {
    absl::StrAppend(&violations, violations.empty() ? "" : ",",
                    "{\"field\":", JsonString(violation.field),
                    ",\"description\":", JsonString(violation.description));
    if (!violation.reason.empty()) {
      absl::StrAppend(&violations, ",\"reason\":", JsonString(violation.reason));
    }
    absl::StrAppend(&violations, "}");
  }
  if (!violations.empty()) absl::StrAppend(&json, ",\"violations\":[", violations, "]");
  if (details.retry_after) {
    absl::StrAppend(&json, ",\"retryAfterSeconds\":", absl::ToDoubleSeconds(*details.retry_after));
  }
  return absl::StrCat(json, "}}");
}

}  // namespace reel::client
