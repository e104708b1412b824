// SPDX-License-Identifier: Apache-2.0
#include "kernels/gate/gate_residual.h"

#include "kernels/rows/fused_norm_call.h"

namespace reel::kernels {

absl::Status GateResidual(const GateResidualArgs& args, const Execution& run) {
  return RunFused(kGateResidual,
                  {.x = args.x,
                   .residual = args.y,
                   .residual_gate = args.gate,
                   .residual_gate_bias = args.gate_bias,
                   .sum = args.out,
                   .vector_of = args.vector_of},
                  run);
}

absl::Status GateResidualAdaln(const GateResidualAdalnArgs& args, const Execution& run) {
  return RunFused(kGateResidualAdaln,
                  {.x = args.x,
                   .residual = args.y,
                   .residual_gate = args.gate,
                   .residual_gate_bias = args.gate_bias,
                   .scale = args.scale,
                   .scale_bias = args.scale_bias,
                   .shift = args.shift,
                   .shift_bias = args.shift_bias,
                   .sum = args.sum,
                   .out = args.out,
                   .eps = args.eps,
                   .out_scale = args.out_scale,
                   .static_out_scale = args.static_out_scale,
                   .vector_of = args.vector_of},
                  run);
}

}  // namespace reel::kernels
