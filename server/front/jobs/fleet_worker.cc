// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/fleet_worker.h"

#include <algorithm>

namespace reel::front {

bool FleetWorker::HoldsJobOf(const std::string& model) const {
  return std::any_of(held.begin(), held.end(),
                     [&](const auto& entry) { return entry.second.shape.model == model; });
}

absl::Duration FleetWorker::Backlog(const std::set<std::string>& without) const {
  absl::Duration sum;
  for (const auto& [job, mine] : held) {
    if (!without.contains(job)) sum += mine.left;
  }
  return sum;
}

}  // namespace reel::front
