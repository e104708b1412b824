// SPDX-License-Identifier: Apache-2.0
// One request of the door on its way to what answers it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/front/api/authorizer.h"
#include "server/front/api/call_observer.h"
#include "server/front/api/request_convert.h"
#include "server/front/http/door_message.h"
#include "server/front/http/door_routes.h"
#include "server/front/jobs/job_service.h"

namespace reel::front {

struct DoorRequest {
  DoorHead head;
  const DoorRouteRow* row = nullptr;  // null: refused before it was known
  std::string id;
  Principal principal;  // no tenant: refused before it was known
  std::string request_id, trace_id;
  CallerSpan caller_span;
  size_t most_body_bytes = 0;
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

Asker AskerOf(const DoorRequest& request);

// The one Authorization field; of two, a proxy may have looked at the other one.
absl::StatusOr<Principal> Authenticate(const Authorizer& authorizer, const DoorRequest& request);

// Whether the caller may still do what it began: tokens are read again while streams are open.
std::function<absl::Status()> StillAllowed(const DoorParts& parts, const DoorRequest& request);

}  // namespace reel::front
