// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/door_request.h"

#include "server/errors/error.h"

namespace reel::front {
namespace {

constexpr char kAuthorization[] = "authorization";

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

std::function<absl::Status()> StillAllowed(const DoorParts& parts, const DoorRequest& request) {
  return [&authorizer = parts.authorizer, rpc = request.row->rpc, before = request.principal,
          given = std::string(request.head.Find(kAuthorization))] {
    const auto principal = authorizer.Authorize(given, rpc);
    return principal.ok() ? StillReaches(before, *principal) : principal.status();
  };
}

}  // namespace reel::front
