// SPDX-License-Identifier: Apache-2.0
// The plan's input: live jobs, workers, costs and tenants' use. It offers no way to change
// anything.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/front/scheduling/cost_model.h"
#include "server/front/scheduling/job_options.h"
#include "server/front/scheduling/planned_job.h"
#include "server/front/scheduling/queue_order.h"
#include "server/front/scheduling/worker_table.h"

namespace reel::front {

using PlannedJobs = std::vector<const PlannedJob*>;

// A snapshot by reference: its parts outlive it and do not change meanwhile.
class State {
 public:
  State(PlannedJobs live_jobs, const WorkerTable& all_workers, const CostModel& known_costs,
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

  // The job that a worker holds; null if it has gone or made another attempt.
  const PlannedJob* AtWorker(std::string_view id, int attempt) const {
    const auto found = at_workers_.find(id);
    return found != at_workers_.end() && found->second->attempt == attempt ? found->second
                                                                           : nullptr;
  }

  const PlannedJobs jobs;  // ordered by id
  const WorkerTable& workers;
  const CostModel& costs;
  const FairShare& share;
  const JobOptions& options;
  bool drains = false;  // assign no more jobs

 private:
  std::unordered_map<std::string_view, const PlannedJob*> at_workers_;
};

}  // namespace reel::front
