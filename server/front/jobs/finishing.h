// SPDX-License-Identifier: Apache-2.0
// Turns the last report of a worker into a success: counts what the job used, closes the file and
// compares its size with the one reported.
#pragma once

#include <string>

#include "model/run_stats.h"
#include "server/front/jobs/byte_quota.h"
#include "server/front/jobs/charges.h"
#include "server/front/jobs/clock.h"
#include "server/front/jobs/endings.h"
#include "server/front/jobs/job_observer.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/jobs/slots.h"
#include "server/front/jobs/state_keeping.h"
#include "server/front/scheduling/cost_model.h"
#include "server/front/store/media_store.h"
#include "server/protocol/worker_report.h"

namespace reel::front {

// Confined to the dispatcher's thread.
class Finishing {
 public:
  // What it works with; all of it outlives it.
  struct Parts {
    JobTable& jobs;
    Slots& slots;
    Endings& endings;
    CostModel& costs;
    Charges& charges;
    const ByteQuota& bytes;
    StateKeeping& states;
    MediaStore& media;
    JobObserver& observer;
    const OwnThread& thread;
    const Clock& clock;
  };
  explicit Finishing(const Parts& parts) : parts_(parts) {}

  void On(const WorkerReport& from, JobFinished finished);

 private:
  // Adds the figures that only the front knows.
  model::RunStats Complete(ActiveJob& job, model::RunStats stats) const;
  void Count(ActiveJob& job, model::RunStats& stats);
  void OnDigest(const std::string& id, Video video, const absl::StatusOr<MediaDigest>& digest);

  const Parts parts_;
};

}  // namespace reel::front
