// SPDX-License-Identifier: Apache-2.0
// Parks running jobs and resumes them, as the plan says, and bounds what their states hold.
#pragma once

#include <cstdint>
#include <string>

#include "server/front/jobs/fleet.h"
#include "server/front/jobs/job_observer.h"
#include "server/front/jobs/job_table.h"
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
  Parking(JobTable& jobs, Fleet& fleet, Slots& slots, ProgressLog& progress, JobObserver& observer)
      : jobs_(jobs), fleet_(fleet), slots_(slots), progress_(progress), observer_(observer) {}

  // Until `before` is decoded, or is gone.
  void Park(const std::string& id, const std::string& before, bool to_host);
  void Resume(const std::string& id);
  void On(const WorkerReport& from, const JobParked& parked);

 private:
  void BoundMemory(const FleetWorker& worker);

  JobTable& jobs_;
  Fleet& fleet_;
  Slots& slots_;
  ProgressLog& progress_;
  JobObserver& observer_;
};

}  // namespace reel::front
