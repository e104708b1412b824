// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/state.h"

#include <utility>

namespace reel::front {

State::State(PlannedJobs live_jobs, const WorkerTable& workers, const CostModel& costs,
             const FairShare& share, const JobOptions& options)
    : jobs(std::move(live_jobs)), workers(workers), costs(costs), share(share), options(options) {
  for (const PlannedJob* job : jobs) {
    if (job->at_worker()) at_workers_.emplace(job->id, job);
  }
}

const PlannedJob* State::AtWorker(std::string_view id, int attempt) const {
  const auto found = at_workers_.find(id);
  return found != at_workers_.end() && found->second->attempt == attempt ? found->second : nullptr;
}

}  // namespace reel::front
