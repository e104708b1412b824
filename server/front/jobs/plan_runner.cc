// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/plan_runner.h"

#include <cstddef>
#include <utility>
#include <variant>

namespace reel::front {
namespace {

constexpr size_t kMostLoads = 64;

}  // namespace

void PlanRunner::Run(bool drains) {
  const absl::Duration now = clock_.Monotonic();
  // More plans than jobs and loads mean that an action has changed nothing: the next event asks
  // again.
  size_t plans = 0;
  for (bool more = true; more;) {
    State state = state_.Now();
    state.drains = drains;
    const Actions actions = Plan(state, now);
    for (const Action& action : actions.list) {
      std::visit([this](const auto& one) { CarryOut(one); }, action);
    }
    more = actions.more && ++plans < state.jobs.size() + kMostLoads;
  }
  // Last: what they pass must not begin in between.
  for (const std::string& job : std::exchange(assigned_, {})) assigner_.Send(job);
}

void PlanRunner::CarryOut(const action::Assign& now) {
  assigner_.Take(now.job, now.worker);
  assigned_.push_back(now.job);
}

void PlanRunner::CarryOut(const action::Unload& now) {
  models_.PutOut(now.worker, now.model);
  observer_.ModelPutOut(now.worker);
}

}  // namespace reel::front
