// SPDX-License-Identifier: Apache-2.0
// Restarts or fails jobs whose worker was lost or reported a failure.
#pragma once

#include <string>

#include "server/front/jobs/clock.h"
#include "server/front/jobs/endings.h"
#include "server/front/jobs/fleet.h"
#include "server/front/jobs/job_observer.h"
#include "server/front/jobs/job_records.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/progress_log.h"
#include "server/front/jobs/quarantine.h"
#include "server/front/jobs/slots.h"
#include "server/front/scheduling/cost_model.h"
#include "server/front/store/media_store.h"
#include "server/front/workers/worker_pool.h"

namespace reel::front {

// Confined to the dispatcher's thread.
class Recovery {
 public:
  // What it works with; all of it outlives it.
  struct Parts {
    JobTable& jobs;
    JobRecords& records;
    Slots& slots;
    Endings& endings;
    ProgressLog& progress;
    Quarantine& quarantine;
    Fleet& fleet;
    CostModel& costs;
    MediaStore& media;
    JobObserver& observer;
    const Clock& clock;
  };
  explicit Recovery(const Parts& parts) : parts_(parts) {}

  void WorkerLost(const std::string& worker, LossCause cause);
  void On(const WorkerReport& from, const JobFailed& failed);

 private:
  // It ran out of memory: with the device for itself, or beside others.
  void RaiseMemory(ActiveJob& job, bool alone);
  void LoseJob(ActiveJob& job, const WorkerLoss& loss);
  void Execute(ActiveJob& job, const Verdict& verdict, Reason restart_reason);
  // `reason` is shown to its watchers. `alone`: from now on it needs a worker without other jobs.
  void Restart(ActiveJob& job, std::string_view reason, bool alone);

  const Parts parts_;
};

}  // namespace reel::front
