// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/look_costs.h"

#include "server/front/jobs/worker_costs.h"

namespace reel::front {

LookCosts::LookCosts(const Fleet& fleet, const CostModel& costs)
    : fleet_(fleet), costs_(costs), has_several_kinds_(HasSeveralKinds(fleet)) {}

const Cost& LookCosts::Of(const ActiveJob& job, const FleetWorker& worker) {
  const auto [known, is_new] = known_.try_emplace({&job, worker.kind()});
  if (is_new) known->second = CostAt(fleet_, costs_, worker, job.need);
  return known->second;
}

}  // namespace reel::front
