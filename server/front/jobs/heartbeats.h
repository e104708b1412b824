// SPDX-License-Identifier: Apache-2.0
// Every live job shows a sign of life in time, a queued one also when its place has changed.
#pragma once

#include "absl/time/time.h"
#include "server/front/jobs/clock.h"
#include "server/front/jobs/fleet.h"
#include "server/front/jobs/job_options.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/progress_log.h"
#include "server/front/jobs/queue_order.h"

namespace reel::front {

// Confined to the dispatcher's thread. What it is given outlives it.
class Heartbeats {
 public:
  Heartbeats(JobTable& jobs, const Fleet& fleet, const FairShare& share, ProgressLog& progress,
             const JobOptions& options, const Clock& clock);

  // How often Beat wants to be called.
  absl::Duration period() const;
  void Beat();

 private:
  JobTable& jobs_;
  const Fleet& fleet_;
  const FairShare& share_;
  ProgressLog& progress_;
  const JobOptions& options_;
  const Clock& clock_;
};

}  // namespace reel::front
