// SPDX-License-Identifier: Apache-2.0
// Plays the plan forward in whole runs: when waiting jobs will start, when a video that is only
// asked about would, and whether it would make others late. Pure.
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/front/scheduling/preemption.h"
#include "server/front/scheduling/state.h"
#include "server/front/scheduling/worker_costs.h"

namespace reel::front {

// Note: [Forecast]
// - Each worker does what it has begun, one after the other, then what waits, in the order of the
//   queue. What waits goes to the worker that is free first.
// - A video that is asked about takes its place in that order, and begins earlier where the worker
//   would park others for it. Quotes never count on shared steps; a deadline may be met by them.
// - Others may run out of time meanwhile and then go first. So a deadline is judged in that order
//   too: each tenant's jobs take its turns by the latest moment to begin.
// - It makes another late that would be in time without it. Those that it must not make late are of
//   its own tenant and at least its priority, or of a tenant that has not had more than its own. So
//   nobody is held out by those who have had more. What would be parked is in preemption.h; to keep
//   a promise more may be (Newcomer::admitted), which no answer counts on.
// - In doubt (between p50 and p90) the other would be in time without it, and late with it.

// Prediction for a waiting job.
struct Outlook {
  const PlannedJob* job = nullptr;  // null for a video that is only asked about
  absl::Duration wait;              // until it begins
  int position = 0;                 // jobs that wait and are before it
};

// A video that is asked about.
struct Question {
  Newcomer newcomer;
  absl::Span<const KindCost> kinds;  // see worker_costs.h
  absl::Duration worker_time;        // as PlannedJob has it
};

struct Answered : Outlook {
  // Delay of its end, by the p90 of its run, against an immediate run where it is fastest.
  absl::Duration delay;
  bool makes_late = false;  // others
};

// Returns the waiting jobs in the order in which they will run.
std::vector<Outlook> Foresee(const State& state, absl::Duration now);
Answered Foresee(const State& state, const Question& question, absl::Duration now);

}  // namespace reel::front
