// SPDX-License-Identifier: Apache-2.0
// Chooses the worker of a job among workers of several kinds: the one where it ends first.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/front/scheduling/cost_model.h"
#include "server/front/scheduling/planned_job.h"
#include "server/front/scheduling/run_order.h"
#include "server/front/scheduling/state.h"
#include "server/front/scheduling/worker_table.h"

namespace reel::front {

// Caches the costs of waiting jobs by kind of device, for one decision, during which costs do not
// change. Arguments outlive it.
class LookCosts {
 public:
  LookCosts(const WorkerTable& table, const CostModel& costs);

  const Cost& Of(const PlannedJob& job, const PlannedWorker& worker);
  // Whether the ready workers are of several kinds.
  bool has_several_kinds() const { return has_several_kinds_; }

 private:
  const WorkerTable& table_;
  const CostModel& costs_;
  const bool has_several_kinds_;
  std::map<std::pair<const PlannedJob*, std::string_view>, Cost> known_;  // by job and kind
};

// Note: [Mixed pools]
// Beside single devices there may be a group, or a newer device, that makes a video sooner. A job
// goes where it is predicted to end first: after what a worker holds, by its own run on that kind.
//
// - One that is free now takes the job that is next, whatever its size; it is left for a busy,
//   faster one only where that ends the job sooner by a fifth of its run on the free one, or alone
//   ends it by its deadline. Those behind it in the order then have the free one.
// - Where the faster one has no room the job waits here for it, and nobody behind it takes that
//   room; it does so for as long as its run on the free one, and no longer: predictions may be off.
// - Of several that are free a job leaves the faster ones to those that are placed together with it
//   and gain more by them, if none of them goes before the others for its priority or its deadline.
//
// Waiting and running work is counted in time of an average worker (PoolCost,
// PlannedJob::WorkerTime), whichever worker does it. So n workers drain n seconds of it a second;
// admission, quotes and gauges use this time. A job's place in the order is by one quote, wherever
// it is put (Note: [Places in the order] in run_order.cc).
//
// In a pool of one kind the worker with the least work before it is taken (WorkerTable::Place). The
// same holds where a worker with room is of a kind that has not run such a job yet.

// A worker must end a job sooner by this share of its run than a worker that has room.
inline constexpr double kClearlySooner = 0.2;

// A worker, for one job.
struct PlaceOption {
  const PlannedWorker* worker = nullptr;
  absl::Duration ahead;         // of what it holds
  absl::Duration run, run_p90;  // of the job there
  bool has_room = true;
  bool is_idle = false;

  absl::Duration end() const { return ahead + run; }
};

// Returns the index of the best option; if it has no room, the job should wait for it. nullopt if
// none has room. `waited`: how long the job has waited already.
std::optional<size_t> ChoosePlace(absl::Span<const PlaceOption> options, absl::Duration time_left,
                                  absl::Duration waited);

// Chooses places during one decision. Arguments outlive it.
class PlaceChoice {
 public:
  struct Place {
    const PlannedWorker* worker = nullptr;  // null if none can take it
    bool must_wait = false;                 // for that worker, which has no room
    bool is_late = false;                   // its deadline passes before it would end there
  };

  PlaceChoice(const State& state, LookCosts& costs, RunQueue& queue, absl::Duration now);

  // The place of the job at `index` of the order, whose predecessors have been placed.
  Place For(size_t index, const WorkerTable::Passed& passed, const WorkerTable::Names& closed);

 private:
  using Options = std::vector<PlaceOption>;

  // nullopt if a worker with room is of a kind without known costs.
  std::optional<Options> OptionsOf(const PlannedJob& job, const WorkerTable::Passed& passed,
                                   const WorkerTable::Names& closed);
  // Whether the job should leave a free worker, and those as fast, to later jobs.
  bool Leaves(size_t index, const Options& options, const PlaceOption& best,
              const WorkerTable::Passed& passed);
  // Whether `other` gains more than `gain` by running on `fast` instead of `slow`.
  bool GainsMore(const PlannedJob& other, absl::Duration gain, const PlaceOption& fast,
                 const PlaceOption& slow);

  const WorkerTable& table_;
  LookCosts& costs_;
  RunQueue& queue_;
  const absl::Duration now_;
  const bool compares_;
};

}  // namespace reel::front
