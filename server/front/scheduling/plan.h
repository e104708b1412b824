// SPDX-License-Identifier: Apache-2.0
// The next actions: who gets which worker, who is parked or resumed, which models come. Pure: the
// same state gives the same actions.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "server/front/scheduling/planned_worker.h"
#include "server/front/scheduling/state.h"
#include "server/front/scheduling/worker_table.h"

namespace reel::front {

// Chooses the models to load on demand: a model comes to a worker for the first job that wants it.
// Where there is no room, the models that nobody has used for longest make way. Pure.
//
// Note: [Residency]
// A worker that starts says of such a model what it would be, and has none of them. A request for
// one waits in the queue as for a model that is loading. For the first request of a model the
// worker with most room that knows it is told to load it, after as many others have made way as it
// takes. None does that is not on demand, has a job there, or is wanted by a job that comes before.
// Where they are not enough, the worker is given nothing that comes after until it is. While a
// model is on its way its weights are counted, and jobs of others go on. It is loaded by one worker
// only, for as long as that one has it. Where the queue's order mixes two models and there is room
// for one, swaps follow each other: that is the price of the order.

// A model that could not be loaded is tried again after so long, where somebody waits for it.
inline constexpr absl::Duration kLoadAgain = absl::Seconds(30);

// Of a worker, those that make way for the job and its model, the one used longest ago first. None
// that has jobs, that is not on demand or that is in `wanted`. nullopt: they are not enough.
std::optional<std::vector<std::string>> WhoMakesWay(const PlannedWorker& worker, const Need& need,
                                                    const std::set<std::string>& wanted,
                                                    const Cards& cards);

// What follows from a job whose model no worker has.
struct ModelWish {
  std::string worker;              // that would load it; empty: none does now
  std::vector<std::string> leave;  // models that make way there
  // The worker must come to rest first, and is to be given nothing that comes after the job.
  bool must_rest = false;
};

// Those before the job want `wanted`.
ModelWish WishFor(const WorkerTable& table, const Need& need, const std::set<std::string>& wanted,
                  absl::Duration now);

// Jobs and workers by their names.
namespace action {

// The job gets a slot at the worker.
struct Assign {
  std::string job, worker;
};
// It leaves a worker that has room, and waits for a faster one (Note: [Mixed pools]).
struct HoldBack {
  std::string job;
};
// It goes behind all that its worker holds. Several go in the order of their actions.
struct PutLast {
  std::string job;
};
struct Park {
  std::string job;
  std::string before;  // the job that goes before it
  bool to_host = false;
};
// What it was parked for is decoded, or is gone.
struct Resume {
  std::string job;
};
// Of a model on demand.
struct Load {
  std::string worker, model;
};
struct Unload {
  std::string worker, model;
};
// No worker will ever run it: NO_DEVICE.
struct Refuse {
  std::string job;
};

}  // namespace action

using Action = std::variant<action::Assign, action::HoldBack, action::PutLast, action::Park,
                            action::Resume, action::Load, action::Unload, action::Refuse>;

struct Actions {
  std::vector<Action> list;  // in their order
  // What follows from them is another plan's, once they are carried out. A plan gives one job its
  // worker: the next job's choice depends on it.
  bool more = false;
};

Actions Plan(const State& state, absl::Duration now);

}  // namespace reel::front
