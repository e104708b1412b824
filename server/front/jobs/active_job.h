// SPDX-License-Identifier: Apache-2.0
// One live job as the dispatcher's thread knows it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "model/run_clock.h"
#include "server/front/jobs/admission.h"
#include "server/front/jobs/blame.h"
#include "server/front/jobs/job_phase.h"
#include "server/front/jobs/logged_job.h"
#include "server/front/store/job_store.h"

namespace reel::front {

// Times are of the monotonic clock.
struct ActiveJob {
  explicit ActiveJob(Phase first) : life(first) {}

  std::shared_ptr<LoggedJob> log;
  JobRow row;  // as the store has it; without the video
  Need need;
  Cost cost;
  JobPhase life;
  model::RunClock clock;  // at the worker as far as its reports tell, until it tells all
  int64_t number = 0;     // of those that this process has known, in their order
  Priority priority = Priority::kNormal;

  absl::Duration accepted, deadline;
  absl::Duration started = absl::InfiniteDuration();  // this attempt
  absl::Duration first_media = absl::InfiniteDuration();
  absl::Duration stage_since, last_event;
  // Since when it waits for a faster worker, while another has room for it; see place_choice.h.
  absl::Duration held_back = absl::InfiniteDuration();
  // What was told of the time left when a fifth of it was done, and when.
  struct TimeLeft {
    absl::Duration told, at;
  };
  std::optional<TimeLeft> time_left;
  // Whichever worker will make it; none: `cost` is of all.
  std::optional<PoolCost> pool;
  // Run time predicted at admission, or for the kind of device that it went to; zero: unknown.
  absl::Duration expected, expected_p90;

  int64_t condition_bytes = 0;  // files that were sent with it
  int64_t reserved_bytes = 0;   // of its tenant's quota, for its own file

  std::string worker;      // of this attempt
  absl::Duration charged;  // to the tenant's share, before it runs
  // That work on it at once, at its worker; before it has one, where it would take the least.
  int devices = 1;
  Losses losses;
  int preemptions = 0;
  bool streamed = false;    // a call was waiting for it when it was made
  uint32_t epoch = 0;       // of the claim by which it is this server's; 0: it is reserved
  bool told_start = false;  // its start was counted in the metrics
  model::Stage stage = model::Stage::kQueue;
  int step = 0;

  const std::string& id() const { return row.id; }
  Phase phase() const { return life.now(); }
  bool runnable() const { return phase() == Phase::kQueued; }
  bool at_worker() const { return phase() == Phase::kFetching || phase() == Phase::kAssigned; }
  bool waits() const { return runnable() || held_unbegun(); }
  // A worker has it and has not begun it: its place is still the front's to choose.
  bool held_unbegun() const { return at_worker() && started == absl::InfiniteDuration(); }
  bool deciding() const { return phase() != Phase::kFinishing && phase() != Phase::kEnding; }
  absl::Duration Left() const {
    if (!deciding()) return absl::ZeroDuration();
    return phase() == Phase::kAssigned ? cost.Left(step) : cost.p50();
  }
  absl::Duration LeftP90() const {
    const absl::Duration all = cost.p50();
    if (all <= absl::ZeroDuration()) return Left();
    return cost.p90() * absl::FDivDuration(Left(), all);
  }
  // Time of workers that is left, of workers as they are on average: in a pool of several kinds one
  // drains more of that in a second than another.
  absl::Duration WorkerTime() const {
    const absl::Duration left = Left(), all = cost.p50();
    if (!pool || all <= absl::ZeroDuration()) return left;
    return pool->typical_run * absl::FDivDuration(left, all);
  }
  // Device time that is left.
  absl::Duration DeviceLeft() const { return devices * Left(); }
  // Of what its tenant was charged for it in advance.
  absl::Duration Unused() const {
    return held_unbegun() ? charged : std::min(DeviceLeft(), charged);
  }
  // Device time of this attempt so far: what its text and the steps that are done are known to
  // cost. The device's own figure comes with a success.
  absl::Duration Used() const {
    const bool runs = phase() == Phase::kAssigned && started != absl::InfiniteDuration();
    return runs ? devices * (cost.p50() - Left()) : absl::ZeroDuration();
  }
};

}  // namespace reel::front
