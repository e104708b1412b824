// SPDX-License-Identifier: Apache-2.0
// Writes the progress of jobs to their logs: work done, work left, and work ahead of them.
#pragma once

#include "absl/time/time.h"
#include "server/front/jobs/dispatcher_state.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/timer_queue.h"
#include "server/front/jobs/worker_roster.h"

namespace reel::front {

// Confined to the dispatcher's thread. What it is given outlives it.
class ProgressLog {
 public:
  ProgressLog(WorkerRoster& roster, const Clock& clock);

  // `position`: in the queue. `ahead`: work before the job. `keep`: later progress does not replace
  // the entry.
  void Add(ActiveJob& job, bool keep, int position, absl::Duration ahead);
  // For a job that a worker has.
  void AddAtWorker(ActiveJob& job, bool keep);

 private:
  struct AtWorker {
    absl::Duration ahead;
    int jobs = 0;  // before it
    bool parked = false;
  };
  AtWorker PlaceAtWorker(const ActiveJob& job);

  WorkerRoster& roster_;
  const Clock& clock_;
};

// Writes progress for live jobs without recent entries, and for queued jobs whose position has
// changed. Confined to the dispatcher's thread. Arguments outlive it.
class Heartbeats {
 public:
  Heartbeats(DispatcherState& state, ProgressLog& progress, const Clock& clock)
      : state_(state), progress_(progress), clock_(clock) {}

  // Interval of calls to Beat.
  absl::Duration period() const;
  void Beat();

 private:
  DispatcherState& state_;
  ProgressLog& progress_;
  const Clock& clock_;
};

}  // namespace reel::front
