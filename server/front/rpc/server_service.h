// SPDX-License-Identifier: Apache-2.0
// reel.v1.ServerService: what this server is and can do.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "server/front/jobs/job_service.h"
#include "server/front/rpc/call_context.h"
#include "server/front/rpc/request_convert.h"

namespace grpc {
class Service;
}

namespace reel::front {

struct ServerFacts {
  std::string version, revision;
  std::chrono::steady_clock::time_point started;
  RequestRules rules;
  int max_jobs_per_tenant = 256;
};

// What is passed in must outlive the service.
std::unique_ptr<grpc::Service> MakeServerService(const CallEnvironment& environment,
                                                 const JobService& jobs, ServerFacts facts);

}  // namespace reel::front
