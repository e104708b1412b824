// SPDX-License-Identifier: Apache-2.0
// A live job as the plan sees it: tenant, needs, costs and progress.
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

// Priority of a video among those of its tenant.
enum class Priority { kLow, kNormal, kHigh };

// The phases of a live job.
enum class Phase {
  kReserved,   // counted, and waiting for its log; its name is not known to anybody
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
  kRestarted,  // starts again
  kRendered,   // the worker has delivered all of it
  kSpoiled,    // the file is not what the worker reported, or could not be written
  kFailed,     // it ends; its worker reported that, or was lost
  kEnded,      // it ends, in whatever phase it is
};

// Effect of an event on the job's slot at a worker.
enum class Release {
  kNothing,   // there is none, or the worker has freed it
  kTakeBack,  // the worker never received the job: free the slot at once
  kStop,      // the worker is told to stop, and frees the slot by a report
};

struct PhaseChange {
  Phase next = Phase::kReserved;
  Release release = Release::kNothing;
};

// The only transition function of phases. Pure. nullopt if the event does not apply in this phase.
std::optional<PhaseChange> Next(Phase phase, JobEvent event);

// A phase that only JobTable can change.
class JobPhase {
 public:
  explicit JobPhase(Phase first) : phase_(first) {}
  Phase now() const { return phase_; }

 private:
  friend class JobTable;
  Phase phase_;
};

// Times are monotonic.
struct PlannedJob {
  explicit PlannedJob(Phase first) : life(first) {}

  std::string id, tenant;
  int attempt = 1;
  Need need;
  Cost cost;
  JobPhase life;
  int64_t number = 0;  // sequence number within this process
  Priority priority = Priority::kNormal;

  absl::Duration accepted, deadline;
  absl::Duration started = absl::InfiniteDuration();  // this attempt
  // Since when it waits for a faster worker although another has room; see place_choice.h.
  absl::Duration held_back = absl::InfiniteDuration();
  // Cost over a pool of several kinds; unset if `cost` applies to all workers.
  std::optional<PoolCost> pool;

  std::string worker;      // of this attempt
  absl::Duration charged;  // to the tenant's share, in advance
  // Number of devices that work on it at its worker; before it has one, where it is fastest.
  int devices = 1;
  int preemptions = 0;
  model::Stage stage = model::Stage::kQueue;
  int step = 0;

  Phase phase() const { return life.now(); }
  bool runnable() const { return phase() == Phase::kQueued; }
  bool at_worker() const { return phase() == Phase::kFetching || phase() == Phase::kAssigned; }
  bool waits() const { return runnable() || held_unbegun(); }
  // Whether a worker holds it without having started it, so that it can still be moved.
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
  // Remaining time on an average worker. In a pool of several kinds a fast worker drains more of it
  // per second.
  absl::Duration WorkerTime() const {
    const absl::Duration left = Left(), all = cost.p50();
    if (!pool || all <= absl::ZeroDuration()) return left;
    return pool->typical_run * absl::FDivDuration(left, all);
  }
  // Remaining device time.
  absl::Duration DeviceLeft() const { return devices * Left(); }
  // The unused part of the advance charge.
  absl::Duration Unused() const {
    return held_unbegun() ? charged : std::min(DeviceLeft(), charged);
  }
  // Device time of this attempt so far, by the known costs of its text and finished steps. A
  // success brings the measured figure.
  absl::Duration Used() const {
    const bool runs = phase() == Phase::kAssigned && started != absl::InfiniteDuration();
    return runs ? devices * (cost.p50() - Left()) : absl::ZeroDuration();
  }
};

}  // namespace reel::front
