// SPDX-License-Identifier: Apache-2.0
#include "model/denoise/step_kernels.h"

#include "kernels/dispatch/kernel_profiles.h"

namespace reel::model {
namespace {

constexpr int kStepsOfOne = 10;  // one of this many steps, rounded to the nearest

std::optional<kernels::KernelPlan> OtherPlan(const kernels::KernelPlan& asked,
                                             StepKernels kernels) {
  switch (kernels) {
    case StepKernels::kAsAsked:
      return std::nullopt;
    case StepKernels::kExact:
      return asked.WithoutLoss();
    case StepKernels::kWithoutRouting:
      return asked.WithoutRouting();
  }
  return std::nullopt;
}

}  // namespace

StepKernels KernelsOfStep(PassSteps pass, bool first_pass, const kernels::Execution& run) {
  const std::string& profile = run.plan.profile();
  if (kernels::HasRoutedAttention(profile)) {
    return first_pass ? StepKernels::kWithoutRouting : StepKernels::kAsAsked;
  }
  const bool is_exact =
      kernels::HasInt8Layers(profile) && pass.done < (pass.all + kStepsOfOne / 2) / kStepsOfOne;
  return is_exact ? StepKernels::kExact : StepKernels::kAsAsked;
}

StepRun::StepRun(const kernels::Execution& run, StepKernels kernels)
    : other_(OtherPlan(run.plan, kernels)),
      run_{.plan = other_.has_value() ? *other_ : run.plan,
           .counters = run.counters,
           .timer = run.timer,
           .stream = run.stream,
           .recorder = run.recorder,
           .threads = run.threads} {}

}  // namespace reel::model
