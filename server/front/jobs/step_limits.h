// SPDX-License-Identifier: Apache-2.0
// Limits of the time of a step, after which a worker counts as hung: ten times what its longest
// piece is predicted to take.
#pragma once

#include <string>

#include "server/front/jobs/fleet.h"
#include "server/front/scheduling/cost_model.h"
#include "server/front/workers/worker_pool.h"

namespace reel::front {

// Confined to the dispatcher's thread. What it is given outlives it.
class StepLimits {
 public:
  StepLimits(Fleet& fleet, const CostModel& costs, WorkerPool& pool)
      : fleet_(fleet), costs_(costs), pool_(pool) {}

  // Call when the jobs that it holds, or their predictions, have changed.
  void Renew(const std::string& worker);

 private:
  Fleet& fleet_;
  const CostModel& costs_;
  WorkerPool& pool_;
};

}  // namespace reel::front
