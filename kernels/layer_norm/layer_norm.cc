// SPDX-License-Identifier: Apache-2.0
#include "kernels/layer_norm/layer_norm.h"

#include "kernels/base/status_macros.h"
#include "kernels/rows/fused_norm_call.h"

namespace reel::kernels {

absl::Status LayerNorm(const LayerNormArgs& args, const Execution& run) {
  ArgumentChecks checks("layer_norm", run.stream);
  checks.Floating("x", args.x, 1, kMaxRowDims);
  checks.Like("out", args.out, "x", args.x);
  checks.Channels("weight", args.weight, args.x);
  checks.Channels("bias", args.bias, args.x);
  checks.Epsilon(args.eps);
  checks.Output("out", args.out, {&args.x});
  REEL_RETURN_IF_ERROR(checks.status());
  FusedNormParams params = FusedNormOf(args.x, Statistic::kVariance, args.eps);
  params.weight = VectorOperand(args.weight);
  params.bias = VectorOperand(args.bias);
  params.out = RowsOperand(args.out);
  return RunFusedNorm("layer_norm", params, checks, run);
}

absl::Status LayerNormResidual(const LayerNormResidualArgs& args, const Execution& run) {
  ArgumentChecks checks("layer_norm_residual", run.stream);
  checks.Floating("x", args.x, 1, kMaxRowDims);
  checks.Like("residual", args.residual, "x", args.x);
  checks.Like("y", args.y, "x", args.x);
  checks.Like("sum", args.sum, "x", args.x);
  checks.Channels("weight", args.weight, args.x);
  checks.Channels("bias", args.bias, args.x);
  checks.Epsilon(args.eps);
  checks.Output("y", args.y, {&args.x});
  checks.Output("sum", args.sum, {&args.x, &args.residual});
  REEL_RETURN_IF_ERROR(checks.status());
  FusedNormParams params = FusedNormOf(args.x, Statistic::kVariance, args.eps);
  params.residual = RowsOperand(args.residual);
  params.weight = VectorOperand(args.weight);
  params.bias = VectorOperand(args.bias);
  params.sum = RowsOperand(args.sum);
  params.out = RowsOperand(args.y);
  return RunFusedNorm("layer_norm_residual", params, checks, run);
}

}  // namespace reel::kernels
