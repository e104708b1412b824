// SPDX-License-Identifier: Apache-2.0
#include "kernels/rms_norm/rms_norm_residual.h"

#include "kernels/base/status_macros.h"
#include "kernels/rows/fused_norm_call.h"

namespace reel::kernels {

absl::Status RmsNormResidual(const RmsNormResidualArgs& args, const Execution& run) {
  ArgumentChecks checks("rms_norm_residual", run.stream);
  checks.Floating("x", args.x, 1, kMaxRowDims);
  checks.Like("residual", args.residual, "x", args.x);
  checks.Like("y", args.y, "x", args.x);
  checks.Like("sum", args.sum, "x", args.x);
  checks.Channels("weight", args.weight, args.x);
  checks.Epsilon(args.eps);
  checks.Output("y", args.y, {&args.x});
  checks.Output("sum", args.sum, {&args.x, &args.residual});
  REEL_RETURN_IF_ERROR(checks.status());
  FusedNormParams params = FusedNormOf(args.x, Statistic::kMeanSquare, args.eps);
  params.residual = RowsOperand(args.residual);
  params.weight = VectorOperand(args.weight);
  params.sum = RowsOperand(args.sum);
  params.out = RowsOperand(args.y);
  return RunFusedNorm("rms_norm_residual", params, checks, run);
}

}  // namespace reel::kernels
