// SPDX-License-Identifier: Apache-2.0
// Decides which steps of the profiles "int8" and "int8_all" run as in "auto": the first tenth of a
// clip's, whose errors would stay in all later steps.
#pragma once

#include <optional>

#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_plan.h"

namespace reel::model {

// Steps of a clip's current pass.
struct PassSteps {
  int done = 0, all = 0;
};

// Whether the next step runs as in "auto".
bool StepsExactly(PassSteps pass, const kernels::Execution& run);

// Returns `run`, or `run` without lossy kernels. Borrows what `run` borrows.
class StepRun {
 public:
  StepRun(const kernels::Execution& run, bool exactly)
      : exact_(exactly ? std::optional(run.plan.WithoutLoss()) : std::nullopt),
        run_{.plan = exactly ? *exact_ : run.plan,
             .counters = run.counters,
             .timer = run.timer,
             .stream = run.stream,
             .recorder = run.recorder,
             .threads = run.threads} {}
  StepRun(const StepRun&) = delete;
  StepRun& operator=(const StepRun&) = delete;

  const kernels::Execution& run() const { return run_; }

 private:
  const std::optional<kernels::KernelPlan> exact_;
  const kernels::Execution run_;
};

}  // namespace reel::model
