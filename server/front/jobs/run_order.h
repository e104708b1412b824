// SPDX-License-Identifier: Apache-2.0
// The jobs that could run and have not begun, in the order in which they should.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/queue_order.h"

namespace reel::front {

// As if it had done nothing yet.
Waiting WaitingOf(const ActiveJob& job);
// The same by what it was quoted, wherever it is put since.
Waiting InOrder(const ActiveJob& job);
// As if so much of it were all.
Waiting RestOf(const ActiveJob& job, absl::Duration left_p90);

// It has come. Had its tenant no other, what that one saved up above the limit is gone.
void WakeTenant(const ActiveJob& newcomer, const JobTable& jobs, FairShare& share);

// The jobs that wait here and those that a worker holds, for one look at them. Only as much of
// their order is worked out as is looked at: there may be a thousand, and few find a place.
// Confined to the dispatcher's thread; the jobs outlive it.
class RunQueue {
 public:
  // `fifo`: in the order of their arrival, whoever's they are.
  RunQueue(JobTable& jobs, const FairShare& share, bool fifo, absl::Duration now);

  // The one at this place of the order; null: there are no more.
  ActiveJob* At(size_t index);
  // Of all, in no order.
  const std::vector<ActiveJob*>& jobs() const { return jobs_; }
  // Those that a worker holds by now, in order.
  std::vector<ActiveJob*> AtWorkers();

 private:
  std::vector<ActiveJob*> jobs_;
  std::vector<ActiveJob*> order_;   // so far
  std::optional<FairLines> lines_;  // none: that is all
};

// The whole of it.
std::vector<ActiveJob*> RunOrder(JobTable& jobs, const FairShare& share, bool fifo,
                                 absl::Duration now);

// Those of them that would run after a job that came now.
std::vector<const ActiveJob*> RunAfter(const Waiting& newcomer, const JobTable& jobs,
                                       const FairShare& share, bool fifo, absl::Duration now);

}  // namespace reel::front
