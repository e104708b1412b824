// SPDX-License-Identifier: Apache-2.0
// Callers that come at a steady rate, whether or not earlier ones have been answered: what a public
// service meets. An answer's time counts from when its call was due, so that a slow server cannot
// hide by slowing its callers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "grpcpp/channel.h"
#include "kernels/base/mutex.h"
#include "reel/v1/video_service.grpc.pb.h"

namespace reel::tests {

// Makes CreateVideo calls. Confined to one thread, but for what gRPC does.
class OpenLoop {
 public:
  struct Answer {
    std::string refusal;  // the reason, empty for a job
    absl::Duration took;
  };

  // `token`: a bearer token, or empty.
  OpenLoop(const std::vector<std::shared_ptr<grpc::Channel>>& channels, std::string token);
  // Waits for what is still unanswered.
  ~OpenLoop();
  OpenLoop(const OpenLoop&) = delete;
  OpenLoop& operator=(const OpenLoop&) = delete;

  // Calls at `rate` a second, for so long; then waits for all answers.
  void Run(const v1::VideoSpec& spec, double rate, absl::Duration duration);
  // After Run.
  std::vector<Answer> answers() const;

 private:
  struct Call;

  void Send(const v1::VideoSpec& spec, absl::Time due);
  void Finished(Call* call, const grpc::Status& status);
  void WaitForAll();

  std::vector<std::unique_ptr<v1::VideoService::Stub>> stubs_;
  const std::string token_;
  size_t sent_ = 0;
  mutable Mutex mutex_;
  CondVar answered_;
  std::vector<Answer> answers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::tests
