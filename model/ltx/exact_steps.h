// SPDX-License-Identifier: Apache-2.0
// The first steps of a clip under the profiles "int8" and "int8_all", a tenth of them, which run as
// in "auto": what the video becomes is decided there, and an error made then is in all later steps.
#pragma once

#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_plan.h"
#include "model/ltx/denoise_state.h"

namespace reel::model::ltx {

// Whether the next step is one.
bool StepsExactly(const DenoiseState& state, const kernels::Execution& run);

// How a step runs: as `run`, or as that without what is lossy. Borrows what `run` does.
class StepRun {
 public:
  StepRun(const kernels::Execution& run, bool exactly)
      : plan_(exactly ? run.plan.WithoutLoss() : run.plan),
        run_{plan_, run.counters, run.timer, run.stream, run.recorder, run.threads} {}
  StepRun(const StepRun&) = delete;
  StepRun& operator=(const StepRun&) = delete;

  const kernels::Execution& run() const { return run_; }

 private:
  const kernels::KernelPlan plan_;
  const kernels::Execution run_;
};

}  // namespace reel::model::ltx
