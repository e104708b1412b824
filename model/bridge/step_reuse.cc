// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/step_reuse.h"

#include "kernels/dispatch/kernel_plan.h"
#include "kernels/dispatch/kernel_profiles.h"
#include "kernels/dispatch/run_op.h"
#include "kernels/torch_views/tensor_view_of.h"
#include "model/bridge/torch_guard.h"

namespace reel::model {

bool MayReuseSteps(const kernels::Execution& run) {
  return run.plan.profile() == kernels::kCacheProfile;
}

at::Tensor WithKept(const Ops& ops, const at::Tensor& x, const at::Tensor& kept) {
  at::Tensor out;
  const aten::StepCacheCall call{x, kept, out};
  const auto dtype = kernels::DtypeOf(x.scalar_type()).value_or(kernels::Dtype::kF64);
  const auto ran = kernels::RunFramework({.op = call.op, .dtype = dtype, .call = &call}, ops.run());
  ThrowIfError(ran.status());
  if (*ran) return out;
  throw KernelError(absl::FailedPreconditionError(
      "The plan was made without the variants of libtorch, and step_cache has no others"));
}

}  // namespace reel::model
