// SPDX-License-Identifier: Apache-2.0
// Idempotency-Key: what a client sends so that calling again does not render twice.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/front/http/door_request.h"

namespace reel::front {

// Makes the key the request id: a UUID as it is, other texts as the UUID of their name.
// INVALID_REQUEST for what is no key, or where the message has another id.
absl::Status TakeRequestKey(const DoorHead& head, std::string& request_id);

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
