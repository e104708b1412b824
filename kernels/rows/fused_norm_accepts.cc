// SPDX-License-Identifier: Apache-2.0
// Host side of the CUDA rows of the fused norms.
#include "kernels/rows/fused_norm.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {

bool FusedNormVectorAccepts(const FusedNormParams& p) {
  return FitsVectorRows(
      p.shape, p.x,
      {&p.x, &p.residual, &p.residual_gate, &p.residual_gate_bias, &p.weight, &p.bias, &p.scale,
       &p.scale_bias, &p.shift, &p.shift_bias, &p.gate, &p.gate_bias, &p.sum, &p.out});
}

}  // namespace reel::kernels
