// SPDX-License-Identifier: Apache-2.0
// Host side of the CUDA variants of the fused norms.
#include "kernels/rows/fused_norm.h"
#include "kernels/rows/fused_norm_layout.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {
namespace {

bool FitsInputs(const FusedNormParams& p) {
  return FitsVectorRows(
      p.shape, p.x,
      {&p.x, &p.residual, &p.residual_gate, &p.residual_gate_bias, &p.weight, &p.bias, &p.scale,
       &p.scale_bias, &p.shift, &p.shift_bias, &p.gate, &p.gate_bias, &p.sum});
}

}  // namespace

// To e4m3 plain calls alone: the general kernel has its values in several passes.
bool FusedNormVectorAccepts(const FusedNormParams& p) {
  if (p.out.dtype != Dtype::kE4m3) return FitsInputs(p) && FitsVectorRows(p.shape, p.x, {&p.out});
  if (p.shape.rows == 0 || p.shape.width == 0) return true;
  return FitsInputs(p) && FitsE4m3Vectors(p.shape, p.x, p.out) && IsModerateScale(p.out_scale) &&
         HasPlainE4m3Parts(p);
}

}  // namespace reel::kernels
