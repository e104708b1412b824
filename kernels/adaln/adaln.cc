// SPDX-License-Identifier: Apache-2.0
#include "kernels/adaln/adaln.h"

#include "kernels/base/status_macros.h"
#include "kernels/rows/e4m3_output.h"
#include "kernels/rows/fused_norm_call.h"

namespace reel::kernels {
namespace {

// What the three have in common: every argument but bias and gate.
template <typename Args>
void CheckModulated(const Args& args, ArgumentChecks& checks) {
  checks.Floating("x", args.x, 3, 3);
  if constexpr (requires { args.out_scale; }) {
    CheckOutputForm(OutputOf(args), checks);
  } else {
    checks.Like("out", args.out, "x", args.x);
  }
  checks.Channels("weight", args.weight, args.x);
  checks.Require(args.scale.has_value() && args.shift.has_value(),
                 "Scale and shift must both be given");
  checks.Modulation("scale", args.scale, args.scale_bias, args.x);
  checks.Modulation("shift", args.shift, args.shift_bias, args.x);
  checks.Epsilon(args.eps);
}

template <typename Args>
FusedNormParams Modulated(const Args& args, Statistic statistic) {
  FusedNormParams params = FusedNormOf(args.x, statistic, args.eps);
  params.weight = VectorOperand(args.weight);
  params.scale = VectorOperand(args.scale);
  params.scale_bias = VectorOperand(args.scale_bias);
  params.shift = VectorOperand(args.shift);
  params.shift_bias = VectorOperand(args.shift_bias);
  params.out = RowsOperand(args.out);
  return params;
}

}  // namespace

absl::Status AdalnRmsNorm(const AdalnRmsNormArgs& args, const Execution& run) {
  ArgumentChecks checks("adaln_rms_norm", run.stream);
  CheckModulated(args, checks);
  CheckOutputPlace(OutputOf(args), checks);
  REEL_RETURN_IF_ERROR(checks.status());
  FusedNormParams params = Modulated(args, Statistic::kMeanSquare);
  params.out_scale = OutputScale(OutputOf(args));
  return RunFusedNorm("adaln_rms_norm", params, checks, run);
}

absl::Status AdalnLayerNorm(const AdalnLayerNormArgs& args, const Execution& run) {
  ArgumentChecks checks("adaln_layer_norm", run.stream);
  CheckModulated(args, checks);
  checks.Channels("bias", args.bias, args.x);
  checks.Output("out", args.out);
  REEL_RETURN_IF_ERROR(checks.status());
  FusedNormParams params = Modulated(args, Statistic::kVariance);
  params.bias = VectorOperand(args.bias);
  return RunFusedNorm("adaln_layer_norm", params, checks, run);
}

absl::Status AdalnZero(const AdalnZeroArgs& args, const Execution& run) {
  ArgumentChecks checks("adaln_zero", run.stream);
  CheckModulated(args, checks);
  checks.Require(args.gate.has_value(), "A gate must be given");
  checks.Modulation("gate", args.gate, args.gate_bias, args.x);
  checks.Output("out", args.out);
  REEL_RETURN_IF_ERROR(checks.status());
  FusedNormParams params = Modulated(args, Statistic::kMeanSquare);
  params.gate = VectorOperand(args.gate);
  params.gate_bias = VectorOperand(args.gate_bias);
  return RunFusedNorm("adaln_zero", params, checks, run);
}

}  // namespace reel::kernels
