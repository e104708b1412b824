// SPDX-License-Identifier: Apache-2.0
// Costs of waiting jobs at workers during one look at the queue, in which costs do not change:
// computed once for each job and kind of device.
#pragma once

#include <map>
#include <string_view>
#include <utility>

#include "server/front/scheduling/cost_model.h"
#include "server/front/scheduling/planned_job.h"
#include "server/front/scheduling/worker_table.h"

namespace reel::front {

// What it is given outlives it.
class LookCosts {
 public:
  LookCosts(const WorkerTable& table, const CostModel& costs);

  const Cost& Of(const PlannedJob& job, const FleetWorker& worker);
  // Whether workers that are ready are of more than one kind.
  bool has_several_kinds() const { return has_several_kinds_; }

 private:
  const WorkerTable& table_;
  const CostModel& costs_;
  const bool has_several_kinds_;
  std::map<std::pair<const PlannedJob*, std::string_view>, Cost> known_;  // by job and kind
};

}  // namespace reel::front
