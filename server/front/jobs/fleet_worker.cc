// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/fleet_worker.h"

namespace reel::front {

absl::Duration FleetWorker::Backlog(const std::set<std::string>& without) const {
  absl::Duration sum;
  for (const auto& [job, mine] : held) {
    if (!without.contains(job)) sum += mine.left;
  }
  return sum;
}

}  // namespace reel::front
