// SPDX-License-Identifier: Apache-2.0
// The thread that starts, watches, ends and starts again the workers. It lives as long as the pool:
// a child asks for its death at the end of the thread that started it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/base/mutex.h"
#include "server/front/workers/launcher.h"
#include "server/front/workers/restart_policy.h"
#include "server/front/workers/worker_slot.h"

namespace reel::front {

class Supervisor {
 public:
  // Where a worker is to dial; asked on the thread before each start.
  using SocketSource = std::function<absl::StatusOr<std::string>()>;

  // All outlive it.
  Supervisor(const WorkerPoolOptions& options, WorkerLauncher& launcher, SocketSource socket,
             const std::vector<WorkerSlot*>& slots);
  // Kills what is left and waits for it.
  ~Supervisor();

  // Lets every worker finish what it holds, for at most `time_left`, then kills the rest. Starts
  // none again. Returns when all are gone.
  void Drain(absl::Duration time_left);

 private:
  enum class Mode { kServe, kDrain, kStop };
  struct Child {
    WorkerSlot* slot = nullptr;
    RestartPolicy policy;
    SteadyTime next_start;
    bool out = false;
    // While it runs.
    std::optional<int64_t> id;
    std::optional<LossCause> killed_for;
    std::optional<WorkerExit> exit;
    SteadyTime exited;
    bool told_to_drain = false;
  };

  void Run();
  // A late look at the clock tells that this process did not run. True: so it is.
  bool NoticePause();
  void Attend(Child& child, Mode mode, SteadyTime deadline);
  void AttendRunning(Child& child, Mode mode, SteadyTime deadline);
  // As an operator asked for.
  void Restore(Child& child);
  void Launch(Child& child);
  absl::StatusOr<int64_t> TryLaunch(Child& child);
  void Kill(Child& child, LossCause cause);
  void Lose(Child& child, Mode mode);
  absl::Duration WaitTime(Mode mode) const;

  const WorkerPoolOptions& options_;
  WorkerLauncher& launcher_;
  const SocketSource socket_;
  std::vector<Child> children_;  // of the thread
  Pauses pauses_;                // of the thread

  Mutex mutex_;
  CondVar gone_changed_;
  Mode mode_ ABSL_GUARDED_BY(mutex_) = Mode::kServe;
  SteadyTime deadline_ ABSL_GUARDED_BY(mutex_);
  bool all_gone_ ABSL_GUARDED_BY(mutex_) = false;  // in kDrain and kStop
  std::thread thread_;
};

}  // namespace reel::front
