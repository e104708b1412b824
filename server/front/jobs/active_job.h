// SPDX-License-Identifier: Apache-2.0
// One live job as the dispatcher's thread knows it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/time/time.h"
#include "model/run_clock.h"
#include "server/front/jobs/blame.h"
#include "server/front/jobs/logged_job.h"
#include "server/front/jobs/state_pieces.h"
#include "server/front/scheduling/forecast.h"
#include "server/front/scheduling/planned_job.h"
#include "server/front/store/job_store.h"

namespace reel::front {

// Times are of the monotonic clock.
struct ActiveJob : PlannedJob {
  using PlannedJob::PlannedJob;

  std::shared_ptr<LoggedJob> log;
  JobRow row;             // as the store has it, but for what the plan knows; without the video
  model::RunClock clock;  // at the worker as far as its reports tell, until it tells all

  absl::Duration first_media = absl::InfiniteDuration();
  absl::Duration stage_since, last_event;
  std::optional<Outlook> told;  // when it was let in, until its log has it
  // What was told of the time left when a fifth of it was done, and when.
  struct TimeLeft {
    absl::Duration told, at;
  };
  std::optional<TimeLeft> time_left;
  // Run time predicted at admission, or for the kind of device that it went to; zero: unknown.
  absl::Duration expected, expected_p90;

  int64_t condition_bytes = 0;  // files that were sent with it, or the state that it begins from
  std::shared_ptr<StatePieces> state;  // what its worker has sent of the state that it leaves
  int64_t reserved_bytes = 0;          // of its tenant's quota, for its own file

  Losses losses;
  bool streamed = false;    // a call was waiting for it when it was made
  uint32_t epoch = 0;       // of the claim by which it is this server's; 0: it is reserved
  bool told_start = false;  // its start was counted in the metrics
};

}  // namespace reel::front
