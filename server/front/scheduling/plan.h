// SPDX-License-Identifier: Apache-2.0
// The next actions: who gets which worker, who is parked or resumed, which models come. Pure: the
// same state gives the same actions.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "server/front/scheduling/state.h"

namespace reel::front {

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
