// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/step_reuse.h"

#include "absl/status/status.h"
#include "kernels/dispatch/kernel_plan.h"
#include "kernels/dispatch/kernel_profiles.h"

namespace reel::model {

bool MayReuseSteps(const kernels::Execution& run) {
  return run.plan.profile() == kernels::kCacheProfile;
}

at::Tensor WithKept(const Ops& ops, const at::Tensor& x, const at::Tensor& kept) {
  at::Tensor out;
  ops.Call(aten::StepCacheCall{x, kept, out}, [](const kernels::Execution&) {
    return absl::FailedPreconditionError(
        "The plan was made without the variants of libtorch, and step_cache has no others");
  });
  return out;
}

}  // namespace reel::model
