// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/step_groups.h"

#include <algorithm>

namespace reel::model::ltx {

bool CanPackStep(const DenoiseState& a, const DenoiseState& b) {
  return !a.guidance.uses_perturbed() && !b.guidance.uses_perturbed();
}

std::vector<std::vector<size_t>> GroupsOf(absl::Span<const DenoiseState* const> states) {
  std::vector<std::vector<size_t>> groups;
  for (size_t i = 0; i < states.size(); ++i) {
    const auto own = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return CanShareStep(*states[group.front()], *states[i]);
    });
    if (own == groups.end()) {
      groups.push_back({i});
    } else {
      own->push_back(i);
    }
  }
  std::stable_sort(groups.begin(), groups.end(), [&](const auto& a, const auto& b) {
    return states[a.front()]->tokens.x.size(1) < states[b.front()]->tokens.x.size(1);
  });
  return groups;
}

}  // namespace reel::model::ltx
