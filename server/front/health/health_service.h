// SPDX-License-Identifier: Apache-2.0
// grpc.health.v1.Health of our own: gRPC's built-in one links no descriptors, so that reflection
// cannot describe it, and its open watches hold up a shutdown.
#pragma once

#include <memory>

#include "server/front/health/health_board.h"
#include "server/front/rpc/call_context.h"

namespace grpc {
class Service;
}

namespace reel::front {

// What is passed in must outlive the service.
std::unique_ptr<grpc::Service> MakeHealthService(const CallEnvironment& environment,
                                                 HealthBoard& board);

}  // namespace reel::front
