// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/door_request.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "server/errors/error.h"
#include "server/front/api/authorizer.h"
#include "server/front/http/door_message.h"

namespace reel::front {

absl::StatusOr<std::map<std::string, std::string>> ReadKnown(const std::string& query,
                                                             std::string_view names) {
  const std::vector<std::string> legal =
      absl::StrSplit(absl::string_view(names.data(), names.size()), ' ', absl::SkipEmpty());
  const auto fields = ParseQuery(query);
  std::vector<model::FieldViolation> violations;
  if (!fields) violations.push_back({"query", "must be NAME=VALUE, joined by '&', encoded with %"});
  std::map<std::string, std::string> known;
  if (fields) {
    for (const auto& [name, value] : *fields) {
      const bool fits = std::find(legal.begin(), legal.end(), name) != legal.end();
      if (!fits || !known.emplace(name, value).second) {
        violations.push_back({name, fits ? "must be given once" : "there is no such field"});
      }
    }
  }
  if (!violations.empty()) return MakeInvalid(Reason::kInvalidRequest, violations);
  return known;
}

absl::StatusOr<uint64_t> ReadNumber(std::string_view name, std::string_view text) {
  uint64_t number = 0;
  if (text.empty() || absl::SimpleAtoi(absl::string_view(text.data(), text.size()), &number)) {
    return number;
  }
  return MakeInvalid(Reason::kInvalidRequest,
                     {{std::string(name), "must be a number, not negative"}});
}

namespace {

constexpr char kField[] = "idempotency-key";
constexpr size_t kMostChars = 64;

absl::Status Refuse(const char* why) {
  return MakeInvalid(Reason::kInvalidRequest, {{"Idempotency-Key", why}});
}

}  // namespace

absl::Status TakeRequestKey(const DoorHead& head, std::string& request_id) {
  const int count = head.Count(kField);
  if (count == 0) return absl::OkStatus();
  const std::string_view key = head.Find(kField);
  const bool visible =
      std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < 0x7F; });
  if (count > 1 || key.empty() || key.size() > kMostChars || !visible) {
    return Refuse("must be 1 to 64 visible ASCII characters, once");
  }
  const std::string id = IsUuid(key) ? std::string(key) : UuidOfName(key);
  if (!request_id.empty() && !absl::EqualsIgnoreCase(request_id, id)) {
    return Refuse("and requestId are not the same; send one of the two");
  }
  request_id = id;
  return absl::OkStatus();
}

KeyedCall::KeyedCall(const DoorRequest& request, const std::string& request_id)
    : keyed_(!request_id.empty()), trace_id_(request.trace_id), received_(absl::Now()) {}

void KeyedCall::Mark(const Video& video, DoorReply& reply) const {
  // A client may send its calls in one trace.
  const bool joined = video.trace_id != trace_id_ || video.create_time < received_;
  if (keyed_ && joined) reply.Add("Idempotent-Replayed", "true");
}

namespace {

constexpr char kAuthorization[] = "authorization";

absl::Status TooLarge(const char* what, const BodyAhead& body, int64_t most_bytes) {
  ErrorDetails details;
  details.metadata = {{"limit", absl::StrCat(most_bytes)}};
  std::string sizes = absl::StrCat("the limit is ", most_bytes, " bytes");
  if (!body.chunked) {  // else nobody knows yet
    details.metadata["value"] = absl::StrCat(body.length);
    sizes = absl::StrCat(body.length, " bytes, the limit is ", most_bytes);
  }
  return MakeError(Reason::kBodyTooLarge, absl::StrCat(what, ": ", sizes), details);
}

}  // namespace

Asker AskerOf(const DoorRequest& request) {
  return {request.principal.tenant, request.trace_id, request.caller_span};
}

absl::StatusOr<Principal> Authenticate(const Authorizer& authorizer, const DoorRequest& request) {
  if (request.head.Count(kAuthorization) > 1) {
    return MakeError(Reason::kUnauthenticated,
                     "The request has more than one Authorization field; send one");
  }
  return authorizer.Authorize(request.head.Find(kAuthorization), request.row->rpc);
}

absl::Status CheckFileHead(const DoorHead& head, int64_t most_bytes) {
  const BodyAhead body = BodyOf(head);
  if (body.chunked) {
    return MakeInvalid(Reason::kInvalidRequest,
                       {{"Content-Length",
                         "must tell the size of the file; a body in chunks, "
                         "whose size shows at its end, is not taken"}});
  }
  if (body.length <= most_bytes) return absl::OkStatus();
  return TooLarge("The file is larger than this server takes", body, most_bytes);
}

absl::Status BodyTooLarge(const DoorRequest& request) {
  const char* what = request.files_ahead
                         ? "The body is larger than this route takes; send pictures, clips and "
                           "sounds ahead, each by POST /reel/v1/files, and name them in the request"
                         : "The body is larger than this route takes";
  return TooLarge(what, BodyOf(request.head), static_cast<int64_t>(request.most_body_bytes));
}

std::function<absl::Status()> StillAllowed(const DoorParts& parts, const DoorRequest& request) {
  return [&authorizer = parts.authorizer, rpc = request.row->rpc, before = request.principal,
          given = std::string(request.head.Find(kAuthorization))] {
    const auto principal = authorizer.Authorize(given, rpc);
    return principal.ok() ? StillReaches(before, *principal) : principal.status();
  };
}

}  // namespace reel::front
