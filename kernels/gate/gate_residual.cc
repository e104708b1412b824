// SPDX-License-Identifier: Apache-2.0
#include "kernels/gate/gate_residual.h"

#include "kernels/base/status_macros.h"
#include "kernels/rows/e4m3_output.h"
#include "kernels/rows/fused_norm_call.h"

namespace reel::kernels {
namespace {

template <typename Args>
void CheckGated(const Args& args, ArgumentChecks& checks) {
  checks.Floating("x", args.x, 3, 3);
  checks.Like("y", args.y, "x", args.x);
  checks.Modulation("gate", args.gate, args.gate_bias, args.x);
}

template <typename Args>
FusedNormParams Gated(const Args& args, Statistic statistic, double eps) {
  FusedNormParams params = FusedNormOf(args.x, statistic, eps);
  params.residual = RowsOperand(args.y);
  params.residual_gate = VectorOperand(args.gate);
  params.residual_gate_bias = VectorOperand(args.gate_bias);
  return params;
}

}  // namespace

absl::Status GateResidual(const GateResidualArgs& args, const Execution& run) {
  ArgumentChecks checks("gate_residual", run.stream);
  CheckGated(args, checks);
  checks.Like("out", args.out, "x", args.x);
  checks.Output("out", args.out, {&args.x});
  REEL_RETURN_IF_ERROR(checks.status());
  FusedNormParams params = Gated(args, Statistic::kNone, 0);
  params.sum = RowsOperand(args.out);
  return RunFusedNorm("gate_residual", params, checks, run);
}

absl::Status GateResidualAdaln(const GateResidualAdalnArgs& args, const Execution& run) {
  ArgumentChecks checks("gate_residual_adaln", run.stream);
  CheckGated(args, checks);
  checks.Like("sum", args.sum, "x", args.x);
  CheckOutputForm(OutputOf(args), checks);
  checks.Require(args.scale.has_value() && args.shift.has_value(),
                 "Scale and shift must both be given");
  checks.Modulation("scale", args.scale, args.scale_bias, args.x);
  checks.Modulation("shift", args.shift, args.shift_bias, args.x);
  checks.Epsilon(args.eps);
  checks.Output("sum", args.sum, {&args.x});
  CheckOutputPlace(OutputOf(args), checks);
  REEL_RETURN_IF_ERROR(checks.status());
  FusedNormParams params = Gated(args, Statistic::kMeanSquare, args.eps);
  params.scale = VectorOperand(args.scale);
  params.scale_bias = VectorOperand(args.scale_bias);
  params.shift = VectorOperand(args.shift);
  params.shift_bias = VectorOperand(args.shift_bias);
  params.sum = RowsOperand(args.sum);
  params.out = RowsOperand(args.out);
  params.out_scale = OutputScale(OutputOf(args));
  return RunFusedNorm("gate_residual_adaln", params, checks, run);
}

}  // namespace reel::kernels
