// SPDX-License-Identifier: Apache-2.0
// "Starts" workers inside the test's process.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "kernels/base/mutex.h"
#include "server/front/workers/launcher.h"
#include "tests/fakes/fake_worker.h"

namespace reel::front {

// Thread-safe; outlived by the workers that the test holds.
class FakeLauncher final : public WorkerLauncher {
 public:
  explicit FakeLauncher(FakeScript script = {}) : script_(std::move(script)) {}

  // For workers that start from now on.
  void SetScript(const FakeScript& script);
  // The next that many launches fail.
  void FailLaunches(int times);
  // As for a process that is on its way out and takes its time.
  void IgnoreKills(bool ignore);
  // Blocks until the n-th launch (from 1) that did not fail; id and worker of it.
  std::shared_ptr<FakeWorker> WaitForLaunch(int n);
  int launches() const;
  // What the n-th worker was started with.
  LaunchRequest RequestOf(int n) const;
  // The supervisor stands still for so long, as in a process that is stopped. Returns when that is
  // over.
  void StopSupervisor(absl::Duration time);
  // Blocks until the supervisor has looked at its workers that many more times.
  void PassWaits(int times);
  // Ends the n-th worker as a process with this status, or by this signal.
  void End(int n, int status, int signal);

  absl::StatusOr<int64_t> Launch(const LaunchRequest& request) override;
  void Kill(int64_t id) override;
  std::vector<WorkerExit> Wait(absl::Duration timeout) override;
  void Wake() override;

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  FakeScript script_ ABSL_GUARDED_BY(mutex_);
  int failing_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::shared_ptr<FakeWorker>> workers_ ABSL_GUARDED_BY(mutex_);  // id is index + 1
  std::vector<LaunchRequest> requests_ ABSL_GUARDED_BY(mutex_);
  int64_t waits_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<int64_t, WorkerExit> ended_ ABSL_GUARDED_BY(mutex_);
  std::vector<WorkerExit> exits_ ABSL_GUARDED_BY(mutex_);
  bool ignores_kills_ ABSL_GUARDED_BY(mutex_) = false;
  bool woken_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Duration stop_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
