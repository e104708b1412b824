// SPDX-License-Identifier: Apache-2.0
// reel.v1.ServerService: what this server is and can do.
#pragma once

#include <memory>

#include "server/front/api/server_answers.h"
#include "server/front/rpc/call_context.h"

namespace grpc {
class Service;
}

namespace reel::front {

// What is passed in must outlive the service.
std::unique_ptr<grpc::Service> MakeServerService(const CallEnvironment& environment,
                                                 JobService& jobs, ServerFacts facts);

}  // namespace reel::front
