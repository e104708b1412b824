// SPDX-License-Identifier: Apache-2.0
// Plans and carries out actions until there are none: assigns jobs to workers, parks and resumes
// running ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/front/jobs/dispatcher_state.h"
#include "server/front/jobs/endings.h"
#include "server/front/jobs/job_observer.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/model_changes.h"
#include "server/front/jobs/progress_log.h"
#include "server/front/jobs/slots.h"
#include "server/front/jobs/timer_queue.h"
#include "server/front/jobs/worker_roster.h"
#include "server/front/scheduling/plan.h"
#include "server/protocol/worker_report.h"

namespace reel::front {

// Limit of parked states in a device's memory. Beyond it, or if the device is nearly full, the
// state parked first moves to the host.
inline constexpr int64_t kParkedBytesOnDevice = int64_t{2} << 30;
inline constexpr double kNearlyFull = 0.9;

// Parks and resumes running jobs as planned, and limits the memory of their states. Confined to the
// dispatcher's thread. Arguments outlive it.
class Parking {
 public:
  Parking(JobTable& jobs, WorkerRoster& roster, Slots& slots, ProgressLog& progress,
          JobObserver& observer)
      : jobs_(jobs), roster_(roster), slots_(slots), progress_(progress), observer_(observer) {}

  // Parks until `before` is decoded or gone.
  void Park(const std::string& id, const std::string& before, bool to_host);
  void Resume(const std::string& id);
  void On(const WorkerReport& from, const JobParked& parked);

 private:
  void BoundMemory(const PlannedWorker& worker);

  JobTable& jobs_;
  WorkerRoster& roster_;
  Slots& slots_;
  ProgressLog& progress_;
  JobObserver& observer_;
};

// Assigns jobs to workers as planned and sends them. Confined to the dispatcher's thread. Arguments
// outlive it.
class Assigner {
 public:
  Assigner(DispatcherState& state, const DispatcherPorts& ports, Slots& slots, Endings& endings,
           StepLimits& limits)
      : state_(state), ports_(ports), slots_(slots), endings_(endings), limits_(limits) {}

  // Gives a queued job a slot.
  void Take(const std::string& id, const std::string& worker);
  // Sends a job with a slot to its worker.
  void Send(const std::string& id);
  void HoldBack(const std::string& id);
  void PutLast(const std::string& id) { slots_.PutLast(state_.jobs.Get(id)); }
  // Ends a job that no worker will ever run.
  void Refuse(const std::string& id);

 private:
  void SendWith(const std::string& id, int attempt, std::vector<MediaStore::Blob> conditions);
  Assignment AssignmentOf(const ActiveJob& job, double order_key) const;

  DispatcherState& state_;
  const DispatcherPorts& ports_;
  Slots& slots_;
  Endings& endings_;
  StepLimits& limits_;
};

// Confined to the dispatcher's thread. What it is given outlives it.
class PlanRunner {
 public:
  PlanRunner(const DispatcherState& state, Assigner& assigner, Parking& parking,
             ModelChanges& models, JobObserver& observer, const Clock& clock)
      : state_(state),
        assigner_(assigner),
        parking_(parking),
        models_(models),
        observer_(observer),
        clock_(clock) {}

  // `drains`: assign no more jobs.
  void Run(bool drains);

 private:
  void CarryOut(const action::Assign& now);
  void CarryOut(const action::HoldBack& now) { assigner_.HoldBack(now.job); }
  void CarryOut(const action::PutLast& now) { assigner_.PutLast(now.job); }
  void CarryOut(const action::Park& now) { parking_.Park(now.job, now.before, now.to_host); }
  void CarryOut(const action::Resume& now) { parking_.Resume(now.job); }
  void CarryOut(const action::Load& now) { models_.LoadOn(now.worker, now.model); }
  void CarryOut(const action::Unload& now);
  void CarryOut(const action::Refuse& now) { assigner_.Refuse(now.job); }

  const DispatcherState& state_;
  Assigner& assigner_;
  Parking& parking_;
  ModelChanges& models_;
  JobObserver& observer_;
  const Clock& clock_;
  std::vector<std::string> assigned_;  // in the current run
};

}  // namespace reel::front
