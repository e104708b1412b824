// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/fused_norm_call.h"

#include "kernels/dispatch/run_op.h"

namespace reel::kernels {

OpVariants FusedNormCpuVariants(const char* op) {
  static constexpr KernelVariant kVariants[] = {
      CpuVariant<FusedNormCpu, FusedNormCpuAccepts>("cpu"),
      CpuVariant<FusedNormLoops>("loops"),
  };
  return MakeVariants<FusedNormParams>(op, kVariants);
}

FusedNormParams FusedNormOf(const TensorView& x, Statistic statistic, double eps) {
  FusedNormParams params;
  params.shape = RowsOf(x);
  params.x = RowsOperand(x);
  params.statistic = statistic;
  params.eps = static_cast<float>(eps);
  return params;
}

absl::Status RunFusedNorm(const char* op, FusedNormParams params, const ArgumentChecks& checks,
                          const Execution& run) {
  MergeRowDims(params.shape,
               {&params.x, &params.residual, &params.residual_gate, &params.residual_gate_bias,
                &params.weight, &params.bias, &params.scale, &params.scale_bias, &params.shift,
                &params.shift_bias, &params.gate, &params.gate_bias, &params.sum, &params.out,
                &params.out_scale.rows});
  return RunOp({.cpu_variants = FusedNormCpuVariants(op),
                .dtype = params.x.dtype,
                .params = &params,
                .empty = params.shape.rows == 0 || params.shape.width == 0,
                .tensors = [&] { return checks.Tensors(); },
                .for_plugins = params.out.dtype != Dtype::kE4m3},
               run);
}

}  // namespace reel::kernels
