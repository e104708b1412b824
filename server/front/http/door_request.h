// SPDX-License-Identifier: Apache-2.0
// One request of the door on its way to what answers it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/api/authorizer.h"
#include "server/front/api/call_observer.h"
#include "server/front/api/request_convert.h"
#include "server/front/http/door_message.h"
#include "server/front/http/door_routes.h"
#include "server/front/jobs/job_service.h"

namespace reel::front {

// Of a query, the one value of each name that is in `names`, "a b"; INVALID_REQUEST for others.
absl::StatusOr<std::map<std::string, std::string>> ReadKnown(const std::string& query,
                                                             std::string_view names);

// A number of a query or a field, not negative: none is 0.
absl::StatusOr<uint64_t> ReadNumber(std::string_view name, std::string_view text);

// Idempotency-Key is what a client sends so that calling again does not render twice. Makes the key
// the request id: a UUID as it is, other texts as the UUID of their name. INVALID_REQUEST for what
// is no key, or where the message has another id.
absl::Status TakeRequestKey(const DoorHead& head, std::string& request_id);

// Whether a body may be a file: its size is told, and it is not too large.
absl::Status CheckFileHead(const DoorHead& head, int64_t most_bytes);

struct DoorRequest {
  DoorHead head;
  const DoorRouteRow* row = nullptr;  // null: refused before it was known
  std::string id;
  Principal principal;  // no tenant: refused before it was known
  std::string request_id, trace_id;
  CallerSpan caller_span;
  size_t most_body_bytes = 0;
  bool files_ahead = false;  // what is too large for the body can be sent ahead
  std::string body;

  std::string_view route() const { return row == nullptr ? "none" : row->pattern; }
  // Errors have the shape of that API.
  bool facade() const { return head.path.substr(0, 4) == "/v1/"; }
};

// What all of it uses, and outlives it.
struct DoorParts {
  const Authorizer& authorizer;
  CallObserver& observer;
  JobService& jobs;
};

// Why a body is refused that is longer than `most_body_bytes`.
absl::Status BodyTooLarge(const DoorRequest& request);

Asker AskerOf(const DoorRequest& request);

// The one Authorization field; of two, a proxy may have looked at the other one.
absl::StatusOr<Principal> Authenticate(const Authorizer& authorizer, const DoorRequest& request);

// Whether the caller may still do what it began: tokens are read again while streams are open.
std::function<absl::Status()> StillAllowed(const DoorParts& parts, const DoorRequest& request);

// Tells a video that a call made from one that it joined.
class KeyedCall {
 public:
  // `request_id`: empty where the call cannot join.
  KeyedCall(const DoorRequest& request, const std::string& request_id);
  // Idempotent-Replayed where it joined `video`.
  void Mark(const Video& video, DoorReply& reply) const;

 private:
  const bool keyed_;
  const std::string trace_id_;
  const absl::Time received_;
};

}  // namespace reel::front
