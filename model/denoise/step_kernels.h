// SPDX-License-Identifier: Apache-2.0
// Decides which steps of a lossy profile run with less loss. By "int8" and "int8_all" the first
// tenth of a clip's run as in "auto", since their errors would stay in all later steps. By "routed"
// those of the first pass, where a film takes its shape, run as in "fp8_all".
#pragma once

#include <optional>

#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_plan.h"

namespace reel::model {

// Steps of a clip's current pass.
struct PassSteps {
  int done = 0, all = 0;
};

enum class StepKernels { kAsAsked, kExact, kWithoutRouting };

// Those of the next step.
StepKernels KernelsOfStep(PassSteps pass, bool first_pass, const kernels::Execution& run);

// Returns `run`, or `run` with other kernels. Borrows what `run` borrows.
class StepRun {
 public:
  StepRun(const kernels::Execution& run, StepKernels kernels);
  StepRun(const StepRun&) = delete;
  StepRun& operator=(const StepRun&) = delete;

  const kernels::Execution& run() const { return run_; }

 private:
  const std::optional<kernels::KernelPlan> other_;
  const kernels::Execution run_;
};

}  // namespace reel::model
