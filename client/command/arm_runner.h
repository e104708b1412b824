// SPDX-License-Identifier: Apache-2.0
// Renders the same video repeatedly, with either arm's kernels.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/command/arm.h"
#include "client/command/interrupt.h"
#include "client/command/session.h"
#include "client/video_client.h"

namespace reel::client {

// Every render has the seed and the worker of the first, unless the spec names them. One render at
// a time, from one thread. The client's calls and threads start in here.
class ArmRunner {
 public:
  ArmRunner(Session& session, v1::VideoSpec spec, std::optional<absl::Duration> timeout);

  // Writes the video to `path`, unless that is empty; `what` is shown meanwhile. After Ctrl-C,
  // which cancels the running render, all fail.
  absl::StatusOr<v1::Video> Render(const Arm& arm, const std::string& path,
                                   const std::string& what);
  // The command's exit code after a render's `status`: the reported error's, or the signal's.
  ExitCode Failed(const absl::Status& status);

 private:
  void OnInterrupt();

  Session& session_;
  v1::VideoSpec spec_;
  const std::optional<absl::Duration> timeout_;
  std::mutex mutex_;
  VideoStream* stream_ = nullptr;  // guarded by mutex_
  bool stopped_ = false;           // guarded by mutex_
  Interrupt interrupt_;
  std::unique_ptr<VideoClient> client_;
};

}  // namespace reel::client
