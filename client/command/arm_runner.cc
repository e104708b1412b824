// SPDX-License-Identifier: Apache-2.0
#include "client/command/arm_runner.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/command/quantity.h"
#include "client/save_video.h"

namespace reel::client {

ArmRunner::ArmRunner(Session& session, v1::VideoSpec spec, std::optional<absl::Duration> timeout)
    : session_(session),
      spec_(std::move(spec)),
      timeout_(timeout),
      interrupt_([this] { OnInterrupt(); }) {}

void ArmRunner::OnInterrupt() {
  const std::lock_guard<std::mutex> lock(mutex_);
  stopped_ = true;
  if (stream_ != nullptr) stream_->Stop();
}

absl::StatusOr<v1::Video> ArmRunner::Render(const Arm& arm, const std::string& path,
                                            const std::string& what) {
  if (client_ == nullptr) {
    auto client = session_.Open();
    if (!client.ok()) return client.status();
    client_ = *std::move(client);
  }
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = spec_;
  Select(arm, *request.mutable_spec());
  request.set_without_media(path.empty());
  if (timeout_) *request.mutable_timeout() = ToProto(*timeout_);
  VideoStream stream = client_->Generate(std::move(request));
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stream_ = &stream;
    if (stopped_) stream.Stop();
  }
  const auto observe = [&](const v1::VideoEvent& event) {
    const std::string line = absl::StrFormat("%s, %.0f%%", what, event.progress().fraction() * 100);
    if (event.has_progress()) session_.console.Progress([&](int) { return line; }, false);
    return absl::OkStatus();
  };
  auto video = path.empty() ? FollowVideo(stream, observe) : SaveVideo(stream, path, observe);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stream_ = nullptr;
  }
  session_.console.ClearProgress();
  if (!video.ok()) return video.status();
  spec_.set_seed(video->spec().seed());
  spec_.set_worker(video->worker());
  return video;
}

ExitCode ArmRunner::Failed(const absl::Status& status) {
  if (interrupt_.signal() == 0) return session_.Fail(status);
  if (session_.json) session_.Fail(absl::CancelledError("Interrupted."));
  return static_cast<ExitCode>(128 + interrupt_.signal());
}

}  // namespace reel::client
