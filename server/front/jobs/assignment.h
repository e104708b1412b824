// SPDX-License-Identifier: Apache-2.0
// Decides which job goes to which worker and when, and sends it there.
#pragma once

#include <string>
#include <vector>

#include "server/front/jobs/clock.h"
#include "server/front/jobs/cost_model.h"
#include "server/front/jobs/endings.h"
#include "server/front/jobs/fleet.h"
#include "server/front/jobs/job_options.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/jobs/parking.h"
#include "server/front/jobs/preemption.h"
#include "server/front/jobs/queue_order.h"
#include "server/front/jobs/residency.h"
#include "server/front/jobs/run_order.h"
#include "server/front/jobs/slots.h"
#include "server/front/jobs/step_limits.h"
#include "server/front/store/media_store.h"
#include "server/front/workers/worker_pool.h"

namespace reel::front {

// Confined to the dispatcher's thread.
class Assigner {
 public:
  // What it works with; all of it outlives it.
  struct Parts {
    JobTable& jobs;
    Fleet& fleet;
    const FairShare& share;
    const CostModel& costs;
    Slots& slots;
    Parking& parking;
    const Preemption::Parts& preemption;
    Residency& residency;
    Endings& endings;
    StepLimits& limits;
    MediaStore& media;
    WorkerPool& pool;
    const OwnThread& thread;
    const JobOptions& options;
    const Clock& clock;
  };
  explicit Assigner(const Parts& parts) : parts_(parts) {}

  // Resumes jobs whose reason to be parked is gone, and fills workers that have room with the jobs
  // that should run next. Keeps jobs that have not begun in their order, and parks running ones for
  // those that would miss their deadlines.
  void Pump();

 private:
  // A job that no worker will ever run ends, instead of waiting for its deadline.
  void EndHopeless();
  // Those that got a slot.
  std::vector<ActiveJob*> Place(RunQueue& queue, Preemption& preemption);
  void Take(ActiveJob& job, FleetWorker& worker);
  void Assign(ActiveJob& job);
  void Send(const std::string& id, int attempt, std::vector<MediaStore::Blob> conditions);
  Assignment AssignmentOf(const ActiveJob& job, double order_key) const;

  const Parts parts_;
};

}  // namespace reel::front
