// SPDX-License-Identifier: Apache-2.0
// The runnable jobs that have not started, in the order in which they should.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/front/scheduling/planned_job.h"
#include "server/front/scheduling/queue_order.h"
#include "server/front/scheduling/state.h"

namespace reel::front {

// As if the job had not run yet.
Waiting WaitingOf(const PlannedJob& job);
// The same, by its quote, wherever it was placed since.
Waiting InOrder(const PlannedJob& job);
// As if only `left_p90` of it remained.
Waiting RestOf(const PlannedJob& job, absl::Duration left_p90);

// Called when a job arrives: if its tenant had none, caps what that tenant has saved up.
void WakeTenant(const PlannedJob& newcomer, const PlannedJobs& jobs, FairShare& share);

// The jobs that wait here and those that workers hold unstarted, for one decision. The order is
// computed lazily: there may be a thousand jobs, of which few find a place.
class RunQueue {
 public:
  // `state` outlives it. With `fifo`, jobs are in the order of their arrival.
  RunQueue(const State& state, absl::Duration now);

  // The job at `index` of the order; null at the end.
  const PlannedJob* At(size_t index);
  // All jobs, unordered.
  const PlannedJobs& jobs() const { return jobs_; }
  // Jobs that workers hold, in order.
  PlannedJobs AtWorkers();

 private:
  PlannedJobs jobs_;
  PlannedJobs order_;               // so far
  std::optional<FairLines> lines_;  // unset at the end
};

// The whole order.
PlannedJobs RunOrder(const State& state, absl::Duration now);

// The order with a newcomer, which is null in it, and with jobs whose log has not answered yet.
PlannedJobs RunOrderWith(const Waiting& newcomer, const State& state, absl::Duration now);

}  // namespace reel::front
