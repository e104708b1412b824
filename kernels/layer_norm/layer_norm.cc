// SPDX-License-Identifier: Apache-2.0
#include "kernels/layer_norm/layer_norm.h"

#include "kernels/rows/fused_norm_call.h"

namespace reel::kernels {

absl::Status LayerNorm(const LayerNormArgs& args, const Execution& run) {
  return RunFused(
      kLayerNorm,
      {.x = args.x, .weight = args.weight, .bias = args.bias, .out = args.out, .eps = args.eps},
      run);
}

absl::Status LayerNormResidual(const LayerNormResidualArgs& args, const Execution& run) {
  return RunFused(kLayerNormResidual,
                  {.x = args.x,
                   .residual = args.residual,
                   .weight = args.weight,
                   .bias = args.bias,
                   .sum = args.sum,
                   .out = args.y,
                   .eps = args.eps},
                  run);
}

}  // namespace reel::kernels
