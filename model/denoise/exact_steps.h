// SPDX-License-Identifier: Apache-2.0
// The first steps of a clip under the profiles "int8" and "int8_all", a tenth of them, which run as
// in "auto": what the video becomes is decided there, and an error made then is in all later steps.
#pragma once

#include <optional>

#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_plan.h"

namespace reel::model {

// Steps of the pass that a clip is in.
struct PassSteps {
  int done = 0, all = 0;
};

// Whether the next step is one.
bool StepsExactly(PassSteps pass, const kernels::Execution& run);

// How a step runs: as `run`, or as that without what is lossy. Borrows what `run` does.
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
