// SPDX-License-Identifier: Apache-2.0
#include "model/denoise/step_kernels.h"

#include "kernels/dispatch/kernel_profiles.h"

namespace reel::model {
namespace {

constexpr int kStepsOfOne = 10;  // one of this many steps, rounded to the nearest

}  // namespace

bool StepsExactly(PassSteps pass, const kernels::Execution& run) {
  if (!kernels::HasInt8Layers(run.plan.profile())) return false;
  return pass.done < (pass.all + kStepsOfOne / 2) / kStepsOfOne;
}

}  // namespace reel::model
