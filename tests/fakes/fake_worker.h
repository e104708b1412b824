// SPDX-License-Identifier: Apache-2.0
// A worker that is a script: it speaks the real protocol over the real socket, inside the test's
// process, with no engine behind it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "model/model_card.h"
#include "reel/worker/v1/worker.pb.h"
#include "server/front/workers/launcher.h"

namespace reel::front {

struct FakeScript {
  bool says_hello = true;  // else a heartbeat comes first
  int protocol = 1;
  std::string token;                                  // empty: the one that it was given
  absl::Duration heartbeat = absl::Milliseconds(20);  // zero: silence
  absl::Duration in_step;                             // what heartbeats say
  bool answers_models = true;                         // says ModelState after Configure
  std::vector<std::string> failing_models;

  // What it does with a job. False: nothing, the test sends what it wants.
  bool lists_kernels = false;  // in its Hello: the variant loops of rms_norm
  bool runs_jobs = true;
  int steps = 3;
  absl::Duration step_time;
  int64_t media_bytes = 1000;  // sent after the steps, as FakeMedia
  int64_t chunk_bytes = 64 << 10;
  // Jobs whose prompt holds `fail_prompt` fail with this reason at `fail_step`.
  std::string fail_prompt, fail_reason;
  int fail_step = 1;
};

// The card of every fake model: any size of a multiple of 32, 8k+1 frames.
model::ModelCard FakeCard(const std::string& name);
// What a fake sends for a job: differs by job and attempt.
std::string FakeMedia(const std::string& job, int attempt, int64_t size);

class FakeWorker {
 public:
  using Command = worker::v1::AttachResponse;
  using Report = worker::v1::AttachRequest;

  // Dials at once, on threads of its own.
  FakeWorker(const front::LaunchRequest& request, const FakeScript& script);
  ~FakeWorker();  // Vanish

  // Blocks while the front does not read. False: the stream is gone.
  bool Send(const Report& report);
  // Blocks until a command for which `matches` is true has come; nullopt when the stream ended
  // first.
  std::optional<Command> WaitFor(const std::function<bool(const Command&)>& matches);
  // All so far.
  std::vector<Command> Received() const;
  void SetHeartbeat(absl::Duration interval, absl::Duration in_step);

  // As a process that is killed: the stream breaks. Idempotent.
  void Vanish();
  // It has left after a drain.
  bool HasLeft() const;
  // Blocks until the stream has ended, and says how the front ended it.
  absl::Status WaitForEnd();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace reel::front
