// SPDX-License-Identifier: Apache-2.0
// The way down: readiness falls at once, admission a little later, then queued bound jobs end,
// running ones finish or meet the limit, and detached ones stay stored for the next start.
#pragma once

#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "server/front/jobs/clock.h"
#include "server/front/jobs/drain_state.h"
#include "server/front/jobs/endings.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/timer_queue.h"

namespace reel::front {

// Confined to the dispatcher's thread. What it is given outlives it.
class Drain {
 public:
  Drain(DrainState& state, JobTable& jobs, Endings& endings, TimerQueue& timers,
        const Clock& clock);

  // A second one means now. `done` comes with Answer.
  void Start(absl::Duration propagation, absl::Duration limit, absl::AnyInvocable<void()> done);
  // What the timers of these names do.
  void CloseAdmission();
  void Cut();

  // Ends what has no future in this process.
  void EndJobs();
  // Somebody waits for it, and no job needs this process any more.
  bool reached() const;
  void Answer();

 private:
  DrainState& state_;
  JobTable& jobs_;
  Endings& endings_;
  TimerQueue& timers_;
  const Clock& clock_;
  std::vector<absl::AnyInvocable<void()>> waiting_;
};

}  // namespace reel::front
