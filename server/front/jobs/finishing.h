// SPDX-License-Identifier: Apache-2.0
// Handles the end of a job's run at a worker: success, failure, or loss of the worker.
#pragma once

#include <string>

#include "model/run_stats.h"
#include "server/front/jobs/dispatcher_state.h"
#include "server/front/jobs/endings.h"
#include "server/front/jobs/job_records.h"
#include "server/front/jobs/progress_log.h"
#include "server/front/jobs/slots.h"
#include "server/front/jobs/state_keeping.h"
#include "server/protocol/worker_report.h"

namespace reel::front {

// Turns a worker's last report into a success: charges the job's use, closes the file and compares
// its size with the report. Confined to the dispatcher's thread. Arguments outlive it.
class Finishing {
 public:
  Finishing(DispatcherState& state, const DispatcherPorts& ports, JobRecords& records, Slots& slots,
            Endings& endings, StateKeeping& states)
      : state_(state),
        ports_(ports),
        records_(records),
        slots_(slots),
        endings_(endings),
        states_(states) {}

  void On(const WorkerReport& from, JobFinished finished);

 private:
  // Adds the figures that only the front knows.
  model::RunStats Complete(ActiveJob& job, model::RunStats stats) const;
  void Count(ActiveJob& job, model::RunStats& stats);
  void OnDigest(const std::string& id, Video video, const absl::StatusOr<MediaDigest>& digest);

  DispatcherState& state_;
  const DispatcherPorts& ports_;
  JobRecords& records_;
  Slots& slots_;
  Endings& endings_;
  StateKeeping& states_;
};

// Restarts or fails jobs whose worker was lost or reported a failure. Confined to the dispatcher's
// thread. Arguments outlive it.
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
  // Called after an out of memory; `alone`: without other jobs on the device.
  void RaiseMemory(ActiveJob& job, bool alone);
  void LoseJob(ActiveJob& job, const WorkerLoss& loss);
  void Execute(ActiveJob& job, const Verdict& verdict, Reason restart_reason);
  // `reason` is shown to clients. `alone`: it needs a worker without other jobs from now on.
  void Restart(ActiveJob& job, std::string_view reason, bool alone);

  DispatcherState& state_;
  const DispatcherPorts& ports_;
  JobRecords& records_;
  Slots& slots_;
  Endings& endings_;
  ProgressLog& progress_;
};

}  // namespace reel::front
