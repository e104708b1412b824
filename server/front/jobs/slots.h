// SPDX-License-Identifier: Apache-2.0
// What jobs hold at workers, and what their tenants are charged for it in advance.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "server/front/jobs/clock.h"
#include "server/front/jobs/fleet.h"
#include "server/front/jobs/job_observer.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/queue_order.h"
#include "server/front/workers/worker_pool.h"

namespace reel::front {

// Confined to the dispatcher's thread. What it is given outlives it.
class Slots {
 public:
  Slots(JobTable& jobs, Fleet& fleet, FairShare& share, WorkerPool& pool, JobObserver& observer,
        const Clock& clock);

  // A queued job gets a slot.
  void Take(ActiveJob& job, FleetWorker& worker);
  // The event takes the job away from its worker, if it has one: its slot is released as its phase
  // says, and what was charged becomes what was used. False: the event changes nothing.
  bool Leave(ActiveJob& job, JobEvent event);
  // A job that was rendered used so much.
  void Pay(ActiveJob& job, absl::Duration device_time) { Charge(job, device_time); }

  // The worker says that it holds the job no more, live or not.
  void LetGo(const std::string& job, int attempt);
  // The worker is gone, with all that it held.
  std::map<std::string, HeldJob> Lose(const std::string& worker);

 private:
  void Charge(ActiveJob& job, absl::Duration used);
  void Tell(const HeldJob& held);

  JobTable& jobs_;
  Fleet& fleet_;
  FairShare& share_;
  WorkerPool& pool_;
  JobObserver& observer_;
  const Clock& clock_;
  int64_t assignments_ = 0;
};

}  // namespace reel::front
