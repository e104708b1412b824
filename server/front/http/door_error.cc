// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/door_error.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/errors/error.h"
#include "server/front/api/shown_error.h"
#include "server/front/http/door_json.h"
#include "server/front/http/facade_fields.h"

namespace reel::front {
namespace {

constexpr absl::Duration kRetryAtOnce = absl::Seconds(1);

// Situations whose HTTP status says more than their code's.
constexpr std::pair<Reason, int> kOfReasons[] = {
    {Reason::kVideoNotReady, 409},      {Reason::kMetadataTooLarge, 431},
    {Reason::kBodyTooLarge, 413},       {Reason::kBodyType, 415},
    {Reason::kRequestNotReceived, 408}, {Reason::kOtherAttempt, 412}};

// 500 for all others.
constexpr std::pair<absl::StatusCode, int> kOfCodes[] = {
    {absl::StatusCode::kInvalidArgument, 400},   {absl::StatusCode::kFailedPrecondition, 400},
    {absl::StatusCode::kUnauthenticated, 401},   {absl::StatusCode::kPermissionDenied, 403},
    {absl::StatusCode::kNotFound, 404},          {absl::StatusCode::kUnimplemented, 405},
    {absl::StatusCode::kAlreadyExists, 409},     {absl::StatusCode::kOutOfRange, 416},
    {absl::StatusCode::kResourceExhausted, 429}, {absl::StatusCode::kCancelled, 499},
    {absl::StatusCode::kUnavailable, 503},       {absl::StatusCode::kDeadlineExceeded, 504}};

// Whoever retries by the status alone must not where it cannot help, and may where it can.
const char* ShouldRetry(int status) {
  if (status == 503) return "true";
  const bool is_final =
      status == 409 || status == 429 || status == 499 || status == 500 || status == 504;
  return is_final ? "false" : nullptr;
}

google::rpc::Status ToMessage(const absl::Status& shown) {
  google::rpc::Status message;
  message.ParseFromString(SerializeError(shown));
  return message;
}

// As `param`: what of the request the error is about.
nlohmann::json FirstViolation(const google::rpc::Status& message) {
  for (const auto& any : message.details()) {
    google::rpc::BadRequest bad;
    if (!any.Is<google::rpc::BadRequest>() || !any.UnpackTo(&bad)) continue;
    if (bad.field_violations_size() > 0) return FacadeNameOf(bad.field_violations(0).field());
  }
  return nullptr;
}

const char* FacadeTypeOf(int status) {
  if (status == 401) return "authentication_error";
  if (status == 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "server_error";
}

std::string MetadataOf(const google::rpc::Status& message, const std::string& key) {
  for (const auto& any : message.details()) {
    google::rpc::ErrorInfo info;
    if (!any.Is<google::rpc::ErrorInfo>() || !any.UnpackTo(&info)) continue;
    const auto found = info.metadata().find(key);
    return found == info.metadata().end() ? "" : found->second;
  }
  return "";
}

void AddRetry(const absl::Status& shown, DoorReply& reply) {
  const char* retry = ShouldRetry(reply.status);
  if (retry != nullptr) reply.Add("X-Should-Retry", retry);
  const bool waits =
      reply.status == 429 || reply.status == 503 || ReasonOf(shown) == Reason::kVideoNotReady;
  if (!waits) return;
  const absl::Duration after = RetryAfterOf(shown).value_or(kRetryAtOnce);
  reply.Add("Retry-After", absl::StrCat(std::max<int64_t>(
                               1, absl::ToInt64Seconds(absl::Ceil(after, absl::Seconds(1))))));
  if (reply.status == 503) {
    reply.Add("Retry-After-Ms", absl::StrCat(absl::ToInt64Milliseconds(after)));
  }
}

}  // namespace

int HttpStatusOf(const absl::Status& status) {
  if (status.ok()) return 200;
  const auto reason = ReasonOf(status);
  for (const auto& [of, own] : kOfReasons) {
    if (of == reason) return own;
  }
  for (const auto& [of, usual] : kOfCodes) {
    if (of == status.code()) return usual;
  }
  return 500;
}

std::string ErrorJson(const absl::Status& status) {
  return WriteJson(ToMessage(ShownToClients(status)));
}

std::string FacadeErrorBody(const absl::Status& status) {
  const absl::Status shown = ShownToClients(status);
  const google::rpc::Status message = ToMessage(shown);
  const nlohmann::json whole = nlohmann::json::parse(WriteJson(message), nullptr, false);
  nlohmann::json error = {
      {"message", std::string(shown.message())},
      {"type", FacadeTypeOf(HttpStatusOf(shown))},
      {"param", FirstViolation(message)},
      {"code", std::string(Describe(ReasonOf(shown).value_or(Reason::kInternal)).name)},
      {"details", whole.value("details", nlohmann::json::array())}};
  return DumpJson({{"error", std::move(error)}});
}

DoorReply ErrorReply(const absl::Status& status) {
  const absl::Status shown = ShownToClients(status);
  const google::rpc::Status message = ToMessage(shown);
  DoorReply reply = JsonReply("");
  reply.status = HttpStatusOf(shown);
  reply.error = shown;
  AddRetry(shown, reply);
  if (reply.status == 401) reply.Add("WWW-Authenticate", "Bearer");
  const std::string size = reply.status == 416 ? MetadataOf(message, "size") : "";
  if (!size.empty()) reply.Add("Content-Range", "bytes */" + size);
  nlohmann::json error = nlohmann::json::parse(WriteJson(message), nullptr, false);
  error["code"] = reply.status;
  error["status"] = absl::AsciiStrToUpper(absl::StatusCodeToString(shown.code()));
  reply.body = DumpJson({{"error", std::move(error)}});
  return reply;
}

}  // namespace reel::front
