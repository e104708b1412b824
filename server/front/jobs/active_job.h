// SPDX-License-Identifier: Apache-2.0
// One live job as the dispatcher's thread knows it, and a call that asks for one.
#pragma once

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "server/front/jobs/admission.h"
#include "server/front/jobs/job_service.h"
#include "server/front/jobs/logged_job.h"
#include "server/front/store/job_store.h"

namespace reel::front {

enum class Phase {
  kCreating,    // not durable yet: nobody knows it
  kQueued,      // waits for a worker
  kFetching,    // has a worker; its conditions are being read
  kAssigned,    // the worker has it
  kRestarting,  // lost its worker; that is being made durable
  kFinishing,   // rendered; its file and state are being made durable: it will succeed
  kEnding,      // its end is being made durable: nothing changes it any more
};

// Times are of the monotonic clock.
struct ActiveJob {
  std::shared_ptr<LoggedJob> log;
  JobRow row;  // as the store has it, or is about to; without the video
  Need need;
  Cost cost;
  Phase phase = Phase::kCreating;

  absl::Duration accepted, deadline;
  absl::Duration started = absl::InfiniteDuration();  // this attempt
  absl::Duration first_media = absl::InfiniteDuration();
  absl::Duration stage_since, last_event;
  absl::Duration expected, expected_p90;  // run, as predicted at admission; zero: nothing known

  std::string worker;      // of this attempt
  absl::Duration charged;  // to the tenant's share, in advance
  int losses = 0;          // of workers, that may be its own doing
  int kills = 0;           // of workers, from outside
  int bound_calls = 0;
  bool waits_for_owner = false;  // after a restart of reeld
  bool told_start = false;       // to the metrics
  bool reserving = false;        // numbers for its log
  model::Stage stage = model::Stage::kQueue;
  int step = 0;

  const std::string& id() const { return row.id; }
  bool runnable() const { return phase == Phase::kQueued && !waits_for_owner; }
  bool at_worker() const { return phase == Phase::kFetching || phase == Phase::kAssigned; }
  bool deciding() const { return phase != Phase::kFinishing && phase != Phase::kEnding; }
  absl::Duration Left() const {
    if (!deciding()) return absl::ZeroDuration();
    return phase == Phase::kAssigned ? cost.Left(step) : cost.p50();
  }
};

// A call of Create that has no answer yet.
struct Caller {
  NewJob request;
  std::string spec_hash;
  Answer<std::shared_ptr<Job>> done;
  bool reaped = false;  // room was made for it once
};

}  // namespace reel::front
