// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/plan_runner.h"

#include <variant>

namespace reel::front {

void PlanRunner::Run(bool drains) {
  const absl::Duration now = clock_.Monotonic();
  bool more = true;
  while (more) {
    const size_t loads = loads_.size();
    bool has_load = false;
    State state = states_.Now();
    state.drains = drains;
    const Actions actions = Plan(state, now);
    for (const Action& action : actions.list) {
      has_load |= std::holds_alternative<action::Load>(action);
      std::visit([this](const auto& one) { CarryOut(one); }, action);
    }
    // A load that could not be begun would be planned for ever.
    more = actions.more && (!has_load || loads_.size() > loads);
  }
  // Last: what they pass must not begin in between.
  for (const std::string& job : std::exchange(assigned_, {})) assigner_.Send(job);
  loads_.clear();
}

void PlanRunner::CarryOut(const action::Assign& now) {
  assigner_.Take(now.job, now.worker);
  assigned_.push_back(now.job);
}

void PlanRunner::CarryOut(const action::Load& now) {
  loads_.emplace(now.worker, now.model);
  models_.LoadOn(now.worker, now.model);
}

void PlanRunner::CarryOut(const action::Unload& now) {
  models_.PutOut(now.worker, now.model);
  observer_.ModelPutOut(now.worker);
}

}  // namespace reel::front
