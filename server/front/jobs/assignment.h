// SPDX-License-Identifier: Apache-2.0
// Gives jobs their workers, as the plan says, and sends them there.
#pragma once

#include <string>
#include <vector>

#include "server/front/jobs/clock.h"
#include "server/front/jobs/endings.h"
#include "server/front/jobs/fleet.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/jobs/slots.h"
#include "server/front/jobs/step_limits.h"
#include "server/front/scheduling/cost_model.h"
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
    const CostModel& costs;
    Slots& slots;
    Endings& endings;
    StepLimits& limits;
    MediaStore& media;
    WorkerPool& pool;
    const OwnThread& thread;
    const Clock& clock;
  };
  explicit Assigner(const Parts& parts) : parts_(parts) {}

  // A queued job gets a slot.
  void Take(const std::string& id, const std::string& worker);
  // One that has a slot is sent to its worker.
  void Send(const std::string& id);
  void HoldBack(const std::string& id);
  void PutLast(const std::string& id) { parts_.slots.PutLast(parts_.jobs.Get(id)); }
  // No worker will ever run it.
  void Refuse(const std::string& id);

 private:
  void SendWith(const std::string& id, int attempt, std::vector<MediaStore::Blob> conditions);
  Assignment AssignmentOf(const ActiveJob& job, double order_key) const;

  const Parts parts_;
};

}  // namespace reel::front
