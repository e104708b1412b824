// SPDX-License-Identifier: Apache-2.0
// The context that every call of a pipeline needs.
#pragma once

#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/kernel_plan.h"
#include "tests/unit/model/bridge/device_under_test.h"

namespace reel::model {

// What a plan takes wherever it has the choice.
enum class PlanSource {
  kLibtorch,  // the profile "reference"
  kKernels,   // the best variant of kernels/ for every operator that has more than the oracle
};

struct TestRun {
  explicit TestRun(PlanSource source = PlanSource::kLibtorch);

  const kernels::KernelPlan plan;
  kernels::KernelCounters counters;
  const kernels::Execution run;
};

}  // namespace reel::model
