// SPDX-License-Identifier: Apache-2.0
#include "kernels/rms_norm/rms_norm_residual.h"

#include "kernels/rows/fused_norm_call.h"

namespace reel::kernels {

absl::Status RmsNormResidual(const RmsNormResidualArgs& args, const Execution& run) {
  return RunFused(kRmsNormResidual,
                  {.x = args.x,
                   .residual = args.residual,
                   .weight = args.weight,
                   .sum = args.sum,
                   .out = args.y,
                   .eps = args.eps},
                  run);
}

}  // namespace reel::kernels
