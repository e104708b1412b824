// SPDX-License-Identifier: Apache-2.0
// Shutdown: readiness falls at once, admission ends a little later. Running jobs finish or are left
// at the limit; what waits is left to its log.
#pragma once

#include <atomic>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "server/front/jobs/active_job.h"
#include "server/front/jobs/clock.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/timer_queue.h"

namespace reel::front {

// How far a drain has come. Confined to the dispatcher's thread, but for `begun`.
struct DrainState {
  std::atomic<bool> begun = false;
  bool closed = false;     // no new jobs, no new assignments
  bool limit_met = false;  // running jobs have had their time

  // It is in its log, for the next process or for another server.
  bool Leaves(const ActiveJob& job) const {
    return job.at_worker() ? limit_met : job.phase() == Phase::kQueued;
  }
};

// Confined to the dispatcher's thread. What it is given outlives it.
class Drain {
 public:
  Drain(DrainState& state, JobTable& jobs, TimerQueue& timers, const Clock& clock);

  // A second call means now. Answer calls `done`.
  void Start(absl::Duration propagation, absl::Duration limit, absl::AnyInvocable<void()> done);
  // Called by the timers kCloseAdmission and kCutDrain.
  void CloseAdmission();
  void Cut();

  // True when somebody waits for the drain and no job needs this process any more.
  bool reached() const;
  void Answer();

 private:
  DrainState& state_;
  JobTable& jobs_;
  TimerQueue& timers_;
  const Clock& clock_;
  std::vector<absl::AnyInvocable<void()>> waiting_;
};

}  // namespace reel::front
