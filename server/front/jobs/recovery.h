// SPDX-License-Identifier: Apache-2.0
// Restarts or fails jobs whose worker was lost or reported a failure.
#pragma once

#include <string>

#include "server/front/jobs/dispatcher_state.h"
#include "server/front/jobs/endings.h"
#include "server/front/jobs/job_records.h"
#include "server/front/jobs/progress_log.h"
#include "server/front/jobs/slots.h"

namespace reel::front {

// Confined to the dispatcher's thread. What it is given outlives it.
class Recovery {
 public:
  Recovery(DispatcherState& state, const DispatcherPorts& ports, JobRecords& records, Slots& slots,
           Endings& endings, ProgressLog& progress)
      : state_(state),
        ports_(ports),
        records_(records),
        slots_(slots),
        endings_(endings),
        progress_(progress) {}

  void WorkerLost(const std::string& worker, LossCause cause);
  void On(const WorkerReport& from, const JobFailed& failed);

 private:
  // It ran out of memory: with the device for itself, or beside others.
  void RaiseMemory(ActiveJob& job, bool alone);
  void LoseJob(ActiveJob& job, const WorkerLoss& loss);
  void Execute(ActiveJob& job, const Verdict& verdict, Reason restart_reason);
  // `reason` is shown to its watchers. `alone`: from now on it needs a worker without other jobs.
  void Restart(ActiveJob& job, std::string_view reason, bool alone);

  DispatcherState& state_;
  const DispatcherPorts& ports_;
  JobRecords& records_;
  Slots& slots_;
  Endings& endings_;
  ProgressLog& progress_;
};

}  // namespace reel::front
