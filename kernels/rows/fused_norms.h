// SPDX-License-Identifier: Apache-2.0
// The operators that are a fused norm, as functions of FusedArgs. Over rows x [..., D]:
//   layer_norm           out = round( (x - mean) * rstd * weight + bias ), the biased variance in
//                        two passes
//   rms_norm_residual    c = x + residual; sum = round(c); out = round( rms(c) * weight ), with c
//                        unrounded
//   layer_norm_residual  the same with layer_norm
// Over x [B,S,D], with scale, shift and gates that are [D], [B,D], [B,1,D] or [B,S,D]:
//   adaln_rms_norm       out = round( rms(x) * weight * (1 + scale) + shift )
//   adaln_layer_norm     the same with layer_norm
//   adaln_zero           out = round( (rms(x) * weight * (1 + scale) + shift) * gate )
//   gate_residual        sum = round( x + residual * residual_gate ), without a gate a plain sum:
//                        the end of a sub-layer, LTX's gate
//   gate_residual_adaln  the same, and out = round( rms(sum, unrounded) * (1 + scale) + shift )
// adaln_rms_norm and gate_residual_adaln can write e4m3 or int8 with a scale for each row.
//
// Vectors are of any outer strides: a slice of a modulation table is taken as it is. What is added
// to each in fp32, `*_bias` [D], spares the kernel that adds a learned row to an embedding.
//
// INVALID_ARGUMENT for an operand too many or too few, sizes, dtypes, overlaps or eps that do not
// fit; the others as in RmsNorm.
#pragma once

#include "kernels/rows/fused_norm_call.h"

namespace reel::kernels {

#define REEL_FUSED_OPERATOR(op, name, ...)                                \
  inline absl::Status name(const FusedArgs& args, const Execution& run) { \
    return RunFused(k##name, args, run);                                  \
  }
#include "kernels/operators.def"
#undef REEL_FUSED_OPERATOR

}  // namespace reel::kernels
