// SPDX-License-Identifier: Apache-2.0
// The jobs that could run and have not begun, in the order in which they should.
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

// As if it had done nothing yet.
Waiting WaitingOf(const PlannedJob& job);
// The same by what it was quoted, wherever it is put since.
Waiting InOrder(const PlannedJob& job);
// As if so much of it were all.
Waiting RestOf(const PlannedJob& job, absl::Duration left_p90);

// It has come. Had its tenant no other, what that one saved up above the limit is gone.
void WakeTenant(const PlannedJob& newcomer, const PlannedJobs& jobs, FairShare& share);

// The jobs that wait here and those that a worker holds, for one look at them. Only as much of
// their order is worked out as is looked at: there may be a thousand, and few find a place.
class RunQueue {
 public:
  // `state` outlives it. With `fifo`: in the order of their arrival, whoever's they are.
  RunQueue(const State& state, absl::Duration now);

  // The one at this place of the order; null: there are no more.
  const PlannedJob* At(size_t index);
  // Of all, in no order.
  const PlannedJobs& jobs() const { return jobs_; }
  // Those that a worker holds by now, in order.
  PlannedJobs AtWorkers();

 private:
  PlannedJobs jobs_;
  PlannedJobs order_;               // so far
  std::optional<FairLines> lines_;  // none: that is all
};

// The whole of it.
PlannedJobs RunOrder(const State& state, absl::Duration now);

// With a job that came now, which is null among them; those too whose log has not answered yet.
PlannedJobs RunOrderWith(const Waiting& newcomer, const State& state, absl::Duration now);

}  // namespace reel::front
