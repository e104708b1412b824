// SPDX-License-Identifier: Apache-2.0
// Decides on the host which calls the CUDA variants of the fused norms take.
#include "kernels/rows/fused_norm.h"
#include "kernels/rows/int8_layout.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {
namespace {

bool FitsInputs(const FusedNormParams& p) {
  return FitsVectorRows(p.shape, p.x, {&p.x, &p.residual, &p.sum}) &&
         FitsVectorRows(VectorShape(p), p.x,
                        {&p.residual_gate, &p.residual_gate_bias, &p.weight, &p.bias, &p.scale,
                         &p.scale_bias, &p.shift, &p.shift_bias, &p.gate, &p.gate_bias});
}

}  // namespace

bool FusedNormVectorAccepts(const FusedNormParams& p) {
  return !HasCodes(p.out) && FitsInputs(p) && FitsVectorRows(p.shape, p.x, {&p.out});
}

bool FusedNormE4m3Accepts(const FusedNormParams& p) {
  return p.out.dtype == Dtype::kE4m3 && FitsInputs(p) && FitsE4m3Vectors(p.shape, p.x, p.out) &&
         IsModerateScale(p.out_scale);
}

// A thread holds a group of a row in 16 bits.
bool FusedNormInt8Accepts(const FusedNormParams& p) {
  return IsPlainInt8Width(p.shape.width) && p.out.dtype == Dtype::kI8 &&
         DtypeSize(p.x.dtype) == 2 && FitsInputs(p) && FitsCodeRuns(p.shape, p.out, kTurnedRun);
}

}  // namespace reel::kernels
