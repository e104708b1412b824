// SPDX-License-Identifier: Apache-2.0
// The slots that jobs hold at workers, and what their tenants are charged for them in advance.
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

// Limits of the time of a step, after which a worker counts as hung: ten times what its longest
// piece is predicted to take.
// Confined to the dispatcher's thread. What it is given outlives it.
class StepLimits {
 public:
  StepLimits(WorkerRoster& roster, const CostModel& costs, WorkerPool& pool)
      : roster_(roster), costs_(costs), pool_(pool) {}

  // Call when the jobs that it holds, or their predictions, have changed.
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

  // A queued job gets a slot.
  void Take(ActiveJob& job, PlannedWorker& worker);
  // Behind all that its worker holds.
  void PutLast(ActiveJob& job);
  // Applies an event that takes the job from its worker, if it has one: releases its slot, and
  // corrects the charge to what was used. False: the event does not apply and nothing has changed.
  bool Leave(ActiveJob& job, JobEvent event);
  // The worker goes on without the job until it is resumed, when what it was parked for is over.
  void Park(ActiveJob& job, const std::string& parked_for, bool to_host);
  void Resume(ActiveJob& job);
  // Out of the device's memory.
  void MoveToHost(ActiveJob& job);
  // Corrects the charge of a rendered job to what it used.
  void Pay(ActiveJob& job, absl::Duration device_time) { Charge(job, device_time); }

  // The worker is told to stop its shadow render, if it has one.
  void GiveUpShadow(PlannedWorker& worker);
  // The worker reported the end of the job, which may be gone already.
  void LetGo(const std::string& job, int attempt);
  // The worker said that it will end, and for which job: it gets no further one, and what it holds
  // is innocent.
  void MarkDying(const std::string& worker) { roster_.MarkDying(worker); }
  // The worker is lost, and with it the jobs that it held.
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
