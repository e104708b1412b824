// SPDX-License-Identifier: Apache-2.0
// Plans the next actions: assign, park, resume and refuse jobs, load and unload models. Pure: the
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

// Retry interval of a failed load while jobs wait for the model.
inline constexpr absl::Duration kLoadAgain = absl::Seconds(30);

// Of a worker, those that make way for the job and its model, the one used longest ago first. None
// that has jobs, that is not on demand or that is in `wanted`. nullopt: they are not enough.
std::optional<std::vector<std::string>> WhoMakesWay(const PlannedWorker& worker, const Need& need,
                                                    const std::set<std::string>& wanted,
                                                    const Cards& cards);

// The next step for a job whose model no worker has.
struct ModelWish {
  std::string worker;              // worker to load it; empty if none can now
  std::vector<std::string> leave;  // models to unload there first
  // The worker must become idle first and gets no job that comes later in the order.
  bool must_rest = false;
};

// `wanted`: models that earlier jobs need.
ModelWish WishFor(const WorkerTable& table, const Need& need, const std::set<std::string>& wanted,
                  absl::Duration now);

// Actions name jobs and workers.
namespace action {

// Gives the job a slot at the worker.
struct Assign {
  std::string job, worker;
};
// The job does not take a worker with room, but waits for a faster one (Note: [Mixed pools]).
struct HoldBack {
  std::string job;
};
// Moves the job behind all others at its worker. Several move in the order of their actions.
struct PutLast {
  std::string job;
};
struct Park {
  std::string job;
  std::string before;  // the job that it makes way for
  bool to_host = false;
};
// The job that it was parked for is decoded or gone.
struct Resume {
  std::string job;
};
// Loads a model on demand.
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
  // Plan again once these are carried out. One plan assigns one job, since the next job's choice
  // depends on it.
  bool more = false;
};

Actions Plan(const State& state, absl::Duration now);

}  // namespace reel::front
