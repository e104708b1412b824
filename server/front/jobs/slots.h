// SPDX-License-Identifier: Apache-2.0
// Slots of jobs at workers, and the advance charges of their tenants.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "server/front/jobs/job_observer.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/timer_queue.h"
#include "server/front/jobs/worker_roster.h"
#include "server/front/scheduling/cost_model.h"
#include "server/front/scheduling/queue_order.h"
#include "server/front/workers/worker_pool.h"

namespace reel::front {

// Time limits of steps, after which a worker counts as hung: ten times the predicted time of its
// longest piece. Confined to the dispatcher's thread. Arguments outlive it.
class StepLimits {
 public:
  StepLimits(WorkerRoster& roster, const CostModel& costs, WorkerPool& pool)
      : roster_(roster), costs_(costs), pool_(pool) {}

  // Call when the worker's jobs or their predictions have changed.
  void Renew(const std::string& worker);

 private:
  WorkerRoster& roster_;
  const CostModel& costs_;
  WorkerPool& pool_;
};

// Confined to the dispatcher's thread. What it is given outlives it.
class Slots {
 public:
  Slots(JobTable& jobs, WorkerRoster& roster, FairShare& share, WorkerPool& pool,
        JobObserver& observer, const Clock& clock);

  // Gives a queued job a slot.
  void Take(ActiveJob& job, PlannedWorker& worker);
  // Moves the job behind all others at its worker.
  void PutLast(ActiveJob& job);
  // Applies an event that takes the job from its worker, if it has one: releases the slot and
  // corrects the charge to the actual use. Returns false if the event does not apply.
  bool Leave(ActiveJob& job, JobEvent event);
  // Parks the job until it is resumed, after the job that it makes way for.
  void Park(ActiveJob& job, const std::string& parked_for, bool to_host);
  void Resume(ActiveJob& job);
  // Moves the state out of the device's memory.
  void MoveToHost(ActiveJob& job);
  // Corrects the charge of a rendered job to its actual use.
  void Pay(ActiveJob& job, absl::Duration device_time) { Charge(job, device_time); }

  // Tells the worker to stop its shadow render, if it has one.
  void GiveUpShadow(PlannedWorker& worker);
  // The worker reported the end of the job, which may have been removed already.
  void LetGo(const std::string& job, int attempt);
  // The worker announced its end and the job to blame: it gets no further job, and its other jobs
  // are innocent.
  void MarkDying(const std::string& worker) { roster_.MarkDying(worker); }
  // Removes a lost worker and returns the jobs that it held.
  std::map<std::string, HeldJob> Lose(const std::string& worker);

 private:
  void Charge(ActiveJob& job, absl::Duration used);
  void Tell(const HeldJob& held);

  JobTable& jobs_;
  WorkerRoster& roster_;
  FairShare& share_;
  WorkerPool& pool_;
  JobObserver& observer_;
  const Clock& clock_;
  int64_t assignments_ = 0;
};

}  // namespace reel::front
