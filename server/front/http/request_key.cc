// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/request_key.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "server/errors/error.h"
#include "server/front/api/call_identity.h"

namespace reel::front {
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

}  // namespace reel::front
