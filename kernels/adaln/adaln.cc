// SPDX-License-Identifier: Apache-2.0
#include "kernels/adaln/adaln.h"

#include "kernels/rows/fused_norm_call.h"

namespace reel::kernels {

absl::Status AdalnRmsNorm(const AdalnRmsNormArgs& args, const Execution& run) {
  return RunFused(kAdalnRmsNorm,
                  {.x = args.x,
                   .weight = args.weight,
                   .scale = args.scale,
                   .scale_bias = args.scale_bias,
                   .shift = args.shift,
                   .shift_bias = args.shift_bias,
                   .out = args.out,
                   .eps = args.eps,
                   .out_scale = args.out_scale,
                   .static_out_scale = args.static_out_scale,
                   .vector_of = args.vector_of},
                  run);
}

absl::Status AdalnLayerNorm(const AdalnLayerNormArgs& args, const Execution& run) {
  return RunFused(kAdalnLayerNorm,
                  {.x = args.x,
                   .weight = args.weight,
                   .bias = args.bias,
                   .scale = args.scale,
                   .scale_bias = args.scale_bias,
                   .shift = args.shift,
                   .shift_bias = args.shift_bias,
                   .out = args.out,
                   .eps = args.eps},
                  run);
}

absl::Status AdalnZero(const AdalnZeroArgs& args, const Execution& run) {
  return RunFused(kAdalnZero,
                  {.x = args.x,
                   .weight = args.weight,
                   .scale = args.scale,
                   .scale_bias = args.scale_bias,
                   .shift = args.shift,
                   .shift_bias = args.shift_bias,
                   .gate = args.gate,
                   .gate_bias = args.gate_bias,
                   .out = args.out,
                   .eps = args.eps},
                  run);
}

}  // namespace reel::kernels
