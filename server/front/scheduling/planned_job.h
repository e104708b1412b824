// SPDX-License-Identifier: Apache-2.0
// One live job as far as the plan goes: whose it is, what it needs and costs, how far it is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "model/run_stats.h"
#include "server/front/scheduling/cost_model.h"
#include "server/front/scheduling/planned_worker.h"
#include "server/front/scheduling/worker_costs.h"

namespace reel::front {

// The rank of a video among those of its tenant.
enum class Priority { kLow, kNormal, kHigh };

// The phases of a live job.
enum class Phase {
  kReserved,   // counts, and waits for its log; nobody knows its name
  kQueued,     // waits for a worker
  kFetching,   // has a worker; its condition files are being read
  kAssigned,   // the worker has it
  kFinishing,  // rendered; its file and state are being stored
  kEnding,     // its end is being written; nothing changes it any more
};

enum class JobEvent {
  kPlaced,     // a worker was chosen for it
  kSent,       // it was sent to the worker
  kUnsent,     // its worker was lost before it was sent
  kRestarted,  // it has to start again
  kRendered,   // the worker has delivered all of it
  kSpoiled,    // the file is not what the worker reported, or could not be written
  kFailed,     // it ends; its worker reported that, or was lost
  kEnded,      // it ends, in whatever phase it is
};

// What happens to the slot that the job holds at a worker.
enum class Release {
  kNothing,   // it holds none, or the worker has freed it
  kTakeBack,  // the worker never got the job: the slot is free at once
  kStop,      // the worker is told to stop, and frees the slot by a report
};

struct PhaseChange {
  Phase next = Phase::kReserved;
  Release release = Release::kNothing;
};

// The one function that says how an event changes a phase. Pure.
// nullopt: the event does not apply in this phase and changes nothing.
std::optional<PhaseChange> Next(Phase phase, JobEvent event);

// A phase that only the JobTable can change, by an event.
class JobPhase {
 public:
  explicit JobPhase(Phase first) : phase_(first) {}
  Phase now() const { return phase_; }

 private:
  friend class JobTable;
  Phase phase_;
};

// Times are of the monotonic clock.
struct PlannedJob {
  explicit PlannedJob(Phase first) : life(first) {}

  std::string id, tenant;
  int attempt = 1;
  Need need;
  Cost cost;
  JobPhase life;
  int64_t number = 0;  // of those that this process has known, in their order
  Priority priority = Priority::kNormal;

  absl::Duration accepted, deadline;
  absl::Duration started = absl::InfiniteDuration();  // this attempt
  // Since when it waits for a faster worker, while another has room for it; see place_choice.h.
  absl::Duration held_back = absl::InfiniteDuration();
  // Whichever worker will make it; none: `cost` is of all.
  std::optional<PoolCost> pool;

  std::string worker;      // of this attempt
  absl::Duration charged;  // to the tenant's share, before it runs
  // That work on it at once, at its worker; before it has one, where it would take the least.
  int devices = 1;
  int preemptions = 0;
  model::Stage stage = model::Stage::kQueue;
  int step = 0;

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
