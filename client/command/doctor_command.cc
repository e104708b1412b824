// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/command/commands.h"
#include "client/command/json_output.h"
#include "client/command/quantity.h"
#include "client/command/video_text.h"
#include "client/command/weights_check.h"
#include "kernels/base/program/byte_size.h"
#include <CLI/CLI.hpp>

namespace reel::client {
namespace {

constexpr absl::Duration kConnectPatience = absl::Seconds(3);

class Doctor {
 public:
  Doctor(Session& session, const VideoClient& client) : session_(session), client_(client) {}

  // Each check needs the ones before it, so the first failure ends the list.
  const std::vector<Check>& Examine() {
    if (Connect()) {
      Encryption();
      Health();
      if (Version()) {
        Models();
        Fleet();
      }
    }
    return checks_;
  }

 private:
  Check& Add(const std::string& name, bool ok, const std::string& detail, const std::string& hint) {
    return checks_.emplace_back(
        Check{.name = name, .ok = ok, .detail = detail, .hint = ok ? "" : hint});
  }

  bool Refused(const std::string& name, const absl::Status& status) {
    const bool token = ExitCodeOf(status) == ExitCode::kUnauthorised;
    Add(name, false, std::string(status.message()),
        token ? "Pass a file with a valid token: --token-file FILE." : "See the server's log.")
        .code = ExitCodeOf(status);
    return false;
  }

  bool Connect() {
    const absl::Time start = absl::Now();
    const bool connected = client_.WaitUntilConnected(kConnectPatience);
    std::string detail =
        absl::StrCat(session_.options.server, " answered in ", HumanDuration(absl::Now() - start));
    if (!connected) detail = Reason();
    Add("connection", connected, detail,
        "Is the server running there (`reeld`), is the port right (--server, REEL_SERVER), and do "
        "both sides agree on TLS (--tls, --tls-ca)?");
    return connected;
  }

  // Only a call shows why the channel failed.
  std::string Reason() const {
    const auto health = client_.CheckHealth("");
    return health.ok() ? "slow to answer" : std::string(health.status().message());
  }

  void Encryption() {
    const ClientOptions& options = session_.options;
    const bool encrypted = options.tls || !options.tls_ca.empty();
    const bool local = absl::StartsWith(options.server, "127.") ||
                       absl::StartsWith(options.server, "localhost") ||
                       absl::StartsWith(options.server, "unix:");
    const char* plain = local ? "none, and none needed on this machine" : "none";
    Add("encryption", encrypted || local, encrypted ? "TLS" : plain,
        "Prompts and videos are sent unencrypted; give the server a certificate and use --tls.")
        .code = ExitCode::kOk;  // a gateway or mesh may encrypt instead
  }

  void Health() {
    const auto health = client_.CheckHealth("");
    if (!health.ok()) {
      Refused("health", health.status());
      return;
    }
    serving_ = *health == reel::client::Health::kServing;
    Add("health", serving_, serving_ ? "accepts jobs" : "accepts no jobs now",
        "It is starting, draining, or has no working device; see the next lines and its log.");
  }

  bool Version() {
    const auto info = client_.Info();
    if (!info.ok()) return Refused("version", info.status());
    const auto major = [](const std::string& version) {
      return version.substr(0, version.find('.'));
    };
    Add("version", major(info->version()) == major(session_.version),
        absl::StrCat("server ", info->version(), ", this program ", session_.version),
        "Their major versions differ; use the client that came with the server.")
        .code = ExitCode::kOk;
    int ready = 0;
    std::string states;
    for (const v1::Worker& worker : info->workers()) {
      if (worker.state() == v1::WORKER_STATE_READY) ++ready;
      absl::StrAppend(&states, states.empty() ? "" : ", ", worker.name(), " ",
                      StateName(worker.state()));
    }
    // A gateway of a fleet has no workers.
    Add("workers", ready > 0 || (states.empty() && serving_), states.empty() ? "none" : states,
        "Wait while they start. Lost workers are restarted; disabled ones need an operator.");
    return true;
  }

  void Models() {
    const auto models = client_.Models();
    if (!models.ok()) {
      Refused("models", models.status());
      return;
    }
    bool ready = !models->empty();
    std::string names;
    for (const v1::Model& model : *models) {
      const bool failed = !model.problem().empty();
      ready = ready && (model.ready() || failed);
      const char* state = model.ready() ? " ready" : failed ? " failed" : " loading";
      absl::StrAppend(&names, names.empty() ? "" : ", ", model.name(), state);
    }
    Add("models", ready, names.empty() ? "none" : names,
        "Loading takes seconds to minutes; the server's log shows the progress.");
    for (const v1::Model& model : *models) Problem(model);
  }

  // Also a model that serves, whose replacement could not be loaded.
  void Problem(const v1::Model& model) {
    if (model.problem().empty()) return;
    Add(absl::StrCat("model ", model.name()), false, model.problem(),
        model.ready() ? "The earlier model still serves."
                      : "On the server's machine `reel doctor --model PATH` checks its files.")
        .code = model.ready() ? ExitCode::kOk : ExitCode::kUnavailable;
  }

  // Checks what a server of a fleet needs; a lone server needs nothing.
  void Fleet() {
    const auto fleet = client_.CheckFleet();
    if (absl::IsUnimplemented(fleet.status())) return;  // an older server
    if (absl::IsPermissionDenied(fleet.status())) {
      Add("fleet", true, "not checked: that needs an admin's token", "");
      return;
    }
    if (!fleet.ok()) {
      Refused("fleet", fleet.status());
      return;
    }
    for (const v1::FleetCheck& check : fleet->checks()) {
      Add(check.name(), check.ok(), check.detail(), check.hint()).code = ExitCode::kUnavailable;
    }
  }

  Session& session_;
  const VideoClient& client_;
  bool serving_ = false;
  std::vector<Check> checks_;
};

std::string Text(const std::vector<Check>& checks, bool color) {
  std::string text;
  for (const Check& check : checks) {
    const std::string mark = check.ok ? "ok     " : "problem";
    const std::string colored =
        color ? absl::StrCat(check.ok ? "\033[32m" : "\033[1;31m", mark, "\033[0m") : mark;
    absl::StrAppend(&text, colored, "  ", check.name, ": ", check.detail, "\n");
    for (const std::string& line : check.lines) absl::StrAppend(&text, "         ", line, "\n");
    if (!check.hint.empty()) absl::StrAppend(&text, "         ", check.hint, "\n");
  }
  return text;
}

std::string Json(const std::vector<Check>& checks) {
  std::string list;
  for (const Check& check : checks) {
    std::string lines;
    for (const std::string& line : check.lines) {
      absl::StrAppend(&lines, lines.empty() ? ",\"lines\":[" : ",", JsonString(line));
    }
    if (!lines.empty()) lines += "]";
    absl::StrAppend(&list, list.empty() ? "" : ",", "{\"name\":", JsonString(check.name),
                    ",\"ok\":", check.ok ? "true" : "false",
                    ",\"detail\":", JsonString(check.detail), lines,
                    ",\"hint\":", JsonString(check.hint), "}");
  }
  return absl::StrCat("{\"checks\":[", list, "]}\n");
}

ExitCode Report(Session& session, const std::vector<Check>& checks) {
  session.console.Print(session.json ? Json(checks) : Text(checks, session.console.color()));
  for (const Check& check : checks) {
    if (!check.ok && check.code != ExitCode::kOk) return check.code;
  }
  return ExitCode::kOk;
}

ExitCode Examine(Session& session) {
  session.options.retry.max_attempts = 1;
  auto client = session.Open();
  if (!client.ok()) return session.Fail(client.status());
  Doctor doctor(session, **client);
  return Report(session, doctor.Examine());
}

}  // namespace

void AddDoctor(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<WeightsFlags>();
  CLI::App& command = *app.add_subcommand(
      "doctor", "Check the connection to the server, and whether it can render; or weights");
  CLI::Option* model = command.add_option(
      "--model", flags->path, "Check this folder or file of weights instead; no server is needed");
  command.add_option("--dtype", flags->dtype, "With --model: the type of the weights in memory")
      ->check(CLI::IsMember({"bf16", "fp16", "fp32"}))
      ->needs(model);
  command
      .add_option("--device-memory", flags->device_memory,
                  "With --model: plan its weights for a device with so much memory, such as 24GB; "
                  "as bf16 unless --dtype is given")
      ->check(WhyNotByteSize)
      ->needs(model);
  command
      .add_option("--weights-form", flags->weights_form,
                  "With --model: 16 (default), or e4m3, as 8-bit floats")
      ->check(CLI::IsMember({"16", "e4m3"}))
      ->needs(model);
  command
      .add_option("--text-form", flags->text_form,
                  "With --model: the same of the text encoder, 16 (default) or e4m3")
      ->check(CLI::IsMember({"16", "e4m3"}))
      ->needs(model);
  command.add_option("--decoder", flags->decoder, "With --model: diffusion, in place of its own")
      ->check(CLI::IsMember({"diffusion"}))
      ->needs(model);
  command
      .add_option("--text-folder", flags->text_folder,
                  "With --model: the folder with text_encoder/ and tokenizer/ of a single file")
      ->needs(model);
  command
      .add_option("--part", flags->parts,
                  "With --model: PART=FILE, a part's weights in a file of its own (transformer, "
                  "vae, audio_vae, text_encoder, connectors or upsampler)")
      ->needs(model)
      ->allow_extra_args(false);
  command
      .add_option("--adapter", flags->adapters,
                  "With --model: FILE[:SCALE], an adapter (LoRA) for it, whose values are read")
      ->needs(model)
      ->allow_extra_args(false);
  command.add_option("--manifest", flags->manifest, "With --model: SHA-256 sums that must match")
      ->needs(model);
  command
      .add_option("--random-weights", flags->random_weights,
                  "With --model: of a folder that has only configurations, the seed of its weights")
      ->needs(model);
  command.callback([&action, flags] {
    if (flags->path.empty()) {
      action = Examine;
      return;
    }
    action = [flags](Session& session) {
      return Report(session, CheckWeights(session.folder, *flags));
    };
  });
}

}  // namespace reel::client
