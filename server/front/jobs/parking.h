// SPDX-License-Identifier: Apache-2.0
// Parks running jobs for others that would miss their deadlines, and resumes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/front/jobs/fleet.h"
#include "server/front/jobs/job_observer.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/look_costs.h"
#include "server/front/jobs/preemption.h"
#include "server/front/jobs/progress_log.h"
#include "server/front/jobs/slots.h"
#include "server/protocol/worker_report.h"

namespace reel::front {

// What parked jobs may hold of a device's memory; beyond it, or when the device is nearly full, the
// one that was parked first goes to the host's.
inline constexpr int64_t kParkedBytesOnDevice = int64_t{2} << 30;
inline constexpr double kNearlyFull = 0.9;

// Confined to the dispatcher's thread. What it is given outlives it.
class Parking {
 public:
  // At what waits and what runs.
  struct Look {
    Preemption& preemption;
    LookCosts& costs;
  };
  Parking(JobTable& jobs, Fleet& fleet, Slots& slots, ProgressLog& progress, JobObserver& observer)
      : jobs_(jobs), fleet_(fleet), slots_(slots), progress_(progress), observer_(observer) {}

  // Resumes those whose reason is over: what they were parked for is decoded, or is gone.
  void ResumeDue();
  // Parks what must not go before those of `order` that a worker holds, nor beside what runs.
  void ParkFor(const std::vector<ActiveJob*>& order, Preemption& preemption);
  // The worker that would have room for the job if it parked others for it; null: none. `soon`:
  // others too that have not run their least yet.
  FleetWorker* MakeRoom(const ActiveJob& job, const Fleet::Passed& passed, const Look& look,
                        bool soon = false) const;
  void On(const WorkerReport& from, const JobParked& parked);

 private:
  bool HasSeveralTenants(const FleetWorker& worker) const;
  // Those that must not share the steps of another one there.
  void ParkCompany(const FleetWorker& worker, Preemption& preemption);
  void Park(const std::vector<std::string>& ids, const ActiveJob& other, bool to_host);
  bool IsOver(const FleetWorker& worker, const std::string& job);
  void BoundMemory(const FleetWorker& worker);

  JobTable& jobs_;
  Fleet& fleet_;
  Slots& slots_;
  ProgressLog& progress_;
  JobObserver& observer_;
};

}  // namespace reel::front
