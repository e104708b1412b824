// SPDX-License-Identifier: Apache-2.0
// The way down: readiness falls at once, admission a little later, then queued bound jobs end,
// running ones finish or meet the limit, and detached ones stay stored for the next start.
#include <utility>
#include <vector>

#include "server/errors/error.h"
#include "server/front/jobs/scheduler.h"

namespace reel::front {

void Scheduler::StartDrain(absl::Duration propagation, absl::Duration limit, Task done) {
  drained_.push_back(std::move(done));
  if (drain_begun_.exchange(true)) {
    // A second request means now.
    StopAdmitting();
    return EndDrain();
  }
  timers_.Set("cut", now() + propagation + limit);
  if (propagation > absl::ZeroDuration()) {
    timers_.Set("close", now() + propagation);
  } else {
    StopAdmitting();
  }
}

void Scheduler::StopAdmitting() {
  if (closed_) return;
  closed_ = true;
  timers_.Clear("close");
  for (auto& [id, job] : jobs_) {
    // One that is being created ends when it is.
    if (job.row.bound && !job.at_worker() && job.phase != Phase::kCreating) EndByDrain(job);
  }
  CheckDrained();
}

void Scheduler::EndByDrain(ActiveJob& job) {
  End(job, VideoState::kCancelled,
      EndError(job, Reason::kServerDraining, "The server shut down before the video was finished"));
}

void Scheduler::EndDrain() {
  timers_.Clear("cut");
  for (auto& [id, job] : jobs_) {
    // A detached one is stored as RUNNING and starts again with the server.
    if (job.row.bound && job.at_worker()) EndByDrain(job);
  }
  limit_met_ = true;
  CheckDrained();
}

void Scheduler::CheckDrained() {
  if (!closed_ || drained_.empty()) return;
  for (const auto& [id, job] : jobs_) {
    // Those that are bound are on their way to an end.
    const bool waits =
        !job.row.bound && (job.phase == Phase::kQueued || job.phase == Phase::kRestarting);
    const bool given_up = limit_met_ && job.at_worker() && !job.row.bound;
    if (!waits && !given_up) return;
  }
  timers_.Clear("cut");
  SaveCosts();
  for (Task& done : std::exchange(drained_, {})) done();
}

}  // namespace reel::front
