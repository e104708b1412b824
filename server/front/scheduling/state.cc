// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/state.h"

#include <utility>

namespace reel::front {

State::State(PlannedJobs live_jobs, const WorkerTable& all_workers, const CostModel& known_costs,
             const FairShare& tenant_share, const JobOptions& job_options)
    : jobs(std::move(live_jobs)),
      workers(all_workers),
      costs(known_costs),
      share(tenant_share),
      options(job_options) {
  for (const PlannedJob* job : jobs) {
    if (job->at_worker()) at_workers_.emplace(job->id, job);
  }
}

const PlannedJob* State::AtWorker(std::string_view id, int attempt) const {
  const auto found = at_workers_.find(id);
  return found != at_workers_.end() && found->second->attempt == attempt ? found->second : nullptr;
}

}  // namespace reel::front
