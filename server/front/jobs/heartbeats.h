// SPDX-License-Identifier: Apache-2.0
// Writes progress for every live job that was silent too long, and for a queued job whose position
// has changed.
#pragma once

#include "absl/time/time.h"
#include "server/front/jobs/clock.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/progress_log.h"
#include "server/front/jobs/state_source.h"
#include "server/front/scheduling/job_options.h"

namespace reel::front {

// Confined to the dispatcher's thread. What it is given outlives it.
class Heartbeats {
 public:
  Heartbeats(JobTable& jobs, const StateSource& states, ProgressLog& progress,
             const JobOptions& options, const Clock& clock);

  // How often Beat wants to be called.
  absl::Duration period() const;
  void Beat();

 private:
  JobTable& jobs_;
  const StateSource& states_;
  ProgressLog& progress_;
  const JobOptions& options_;
  const Clock& clock_;
};

}  // namespace reel::front
