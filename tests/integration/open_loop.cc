// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/open_loop.h"

#include <utility>

#include "absl/time/clock.h"
#include "grpcpp/grpcpp.h"
#include "tests/integration/calls.h"

namespace reel::tests {
namespace {

// gRPC 1.51 takes the threads of its callbacks down with the last channel, and crashes where
// another one comes at that moment: the first one of the process stays.
void KeepOne(const std::shared_ptr<grpc::Channel>& channel) {
  static const auto* const kKept = new std::shared_ptr<grpc::Channel>(channel);
  (void)kKept;
}

}  // namespace

struct OpenLoop::Call {
  absl::Time due;
  grpc::ClientContext context;
  v1::CreateVideoRequest request;
  v1::CreateVideoResponse response;
};

OpenLoop::OpenLoop(const std::vector<std::shared_ptr<grpc::Channel>>& channels, std::string token)
    : token_(std::move(token)) {
  KeepOne(channels.front());
  for (const auto& channel : channels) stubs_.push_back(v1::VideoService::NewStub(channel));
}

OpenLoop::~OpenLoop() { WaitForAll(); }

void OpenLoop::Run(const v1::VideoSpec& spec, double rate, absl::Duration duration) {
  const absl::Time start = absl::Now();
  for (int i = 0;; ++i) {
    const absl::Duration after = absl::Seconds(i / rate);
    if (after > duration) break;
    absl::SleepFor(start + after - absl::Now());
    Send(spec, start + after);
  }
  WaitForAll();
}

void OpenLoop::Send(const v1::VideoSpec& spec, absl::Time due) {
  auto* const call = new Call;  // Finished frees it
  call->due = due;
  *call->request.mutable_spec() = spec;
  if (!token_.empty()) call->context.AddMetadata("authorization", "Bearer " + token_);
  stubs_[sent_++ % stubs_.size()]->async()->CreateVideo(
      &call->context, &call->request, &call->response,
      [this, call](const grpc::Status& status) { Finished(call, status); });
}

void OpenLoop::Finished(Call* call, const grpc::Status& status) {
  const std::unique_ptr<Call> owned(call);
  const absl::Duration took = absl::Now() - call->due;
  MutexLock lock(mutex_);
  std::string refusal;
  if (!status.ok()) refusal = ReasonOf(status).empty() ? status.error_message() : ReasonOf(status);
  answers_.push_back({std::move(refusal), took});
  answered_.NotifyAll();
}

void OpenLoop::WaitForAll() {
  MutexLock lock(mutex_);
  while (answers_.size() < sent_) answered_.Wait(mutex_);
}

std::vector<OpenLoop::Answer> OpenLoop::answers() const {
  MutexLock lock(mutex_);
  return answers_;
}

}  // namespace reel::tests
