// SPDX-License-Identifier: Apache-2.0
// reel.v1.VideoService on gRPC's callback API: authorises, converts, asks jobs/, and answers when
// jobs/ does. No logic of videos is here.
#pragma once

#include <memory>

#include "absl/time/time.h"
#include "server/front/api/request_convert.h"
#include "server/front/api/stream_driver.h"
#include "server/front/jobs/job_service.h"
#include "server/front/rpc/call_context.h"

namespace grpc {
class Service;
}

namespace reel::front {

struct VideoServiceOptions {
  RequestRules rules;
  absl::Duration write_stall = absl::Seconds(30);
};

// What is passed in must outlive the service, and the service every call on it.
std::unique_ptr<grpc::Service> MakeVideoService(const CallEnvironment& environment,
                                                JobService& jobs, StreamPump& pump,
                                                const VideoServiceOptions& options);

}  // namespace reel::front
