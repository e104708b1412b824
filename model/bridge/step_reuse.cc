// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/step_reuse.h"

#include <string_view>

#include "absl/status/status.h"
#include "kernels/dispatch/kernel_plan.h"
#include "kernels/dispatch/kernel_profiles.h"
#include "model/bridge/framework_variants.h"
#include "model/bridge/libtorch_variant.h"
#include "model/bridge/operator_variants.h"

namespace reel::model {
namespace {

// What blocks added when they ran last, in their stead.
struct StepCacheCall {
  static constexpr std::string_view op = "step_cache";
  const at::Tensor& x;
  const at::Tensor& kept;
  at::Tensor& out;
};
void RunStepCache(const StepCacheCall& call) { call.out = call.x + call.kept; }

}  // namespace

void AddStepCacheVariants(kernels::KernelCatalog& catalog) {
  catalog.AddFramework(
      {MakeLibtorchVariant({.op = StepCacheCall::op, .variant = kFirstBlockVariant},
                           {.run = kUntyped<RunStepCache>})},
      kernels::KernelCatalog::Place::kFirst);
}

bool MayReuseSteps(const kernels::Execution& run) {
  return run.plan.profile() == kernels::kCacheProfile;
}

at::Tensor WithKept(const Ops& ops, const at::Tensor& x, const at::Tensor& kept) {
  at::Tensor out;
  ops.Call(StepCacheCall{x, kept, out}, [](const kernels::Execution&) {
    return absl::FailedPreconditionError(
        "The plan was made without the variants of libtorch, and step_cache has no others");
  });
  return out;
}

}  // namespace reel::model
