// SPDX-License-Identifier: Apache-2.0
// Makes the state that is planned from what the dispatcher's thread holds.
#pragma once

#include "server/front/jobs/fleet.h"
#include "server/front/jobs/job_table.h"
#include "server/front/scheduling/cost_model.h"
#include "server/front/scheduling/job_options.h"
#include "server/front/scheduling/queue_order.h"
#include "server/front/scheduling/state.h"

namespace reel::front {

// Confined to the dispatcher's thread. What it is given outlives it.
class StateSource {
 public:
  StateSource(const JobTable& jobs, const Fleet& fleet, const CostModel& costs,
              const FairShare& share, const JobOptions& options)
      : jobs_(jobs), fleet_(fleet), costs_(costs), share_(share), options_(options) {}

  // Valid until any of it changes.
  State Now() const { return {jobs_.Planned(), fleet_, costs_, share_, options_}; }

 private:
  const JobTable& jobs_;
  const Fleet& fleet_;
  const CostModel& costs_;
  const FairShare& share_;
  const JobOptions& options_;
};

}  // namespace reel::front
