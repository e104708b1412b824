// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/look_costs.h"

#include "server/front/scheduling/worker_costs.h"

namespace reel::front {

LookCosts::LookCosts(const WorkerTable& table, const CostModel& costs)
    : table_(table), costs_(costs), has_several_kinds_(HasSeveralKinds(table)) {}

const Cost& LookCosts::Of(const PlannedJob& job, const FleetWorker& worker) {
  const auto [known, is_new] = known_.try_emplace({&job, worker.kind()});
  if (is_new) known->second = CostAt(table_, costs_, worker, job.need);
  return known->second;
}

}  // namespace reel::front
