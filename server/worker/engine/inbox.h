// SPDX-License-Identifier: Apache-2.0
// The engine thread's queue: commands, "look again", "stop".
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/worker/engine/engine.h"

namespace reel::worker {

// A monotonic instant, comparable only with others of its kind.
absl::Time SteadyNow();

// Thread-safe.
class Inbox {
 public:
  void Post(EngineCommand command);
  // Something else changed, e.g. an encoder has room.
  void Wake();
  void Stop();

  // Engine thread: returns the commands so far, in order, and clears wakes before this call.
  std::vector<EngineCommand> Take();
  bool stopped() const;
  // Engine thread: returns at the next post, wake or stop since Take, or at `end`, with the time
  // slept.
  absl::Duration WaitUntil(absl::Time end);

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  std::vector<EngineCommand> commands_ ABSL_GUARDED_BY(mutex_);
  bool woken_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace reel::worker
