// SPDX-License-Identifier: Apache-2.0
// Flags for the parts of a fused norm (fused_norm.h) that an operator or a call has. Included by
// nvcc too.
#pragma once

#include "kernels/rows/fused_norm.h"

namespace reel::kernels {

inline constexpr unsigned kResidual = 1;      // residual, without a gate
inline constexpr unsigned kResidualGate = 2;  // its gate and that gate's bias; either may be absent
inline constexpr unsigned kAffine = 4;        // weight, bias; of a plain call the weight
inline constexpr unsigned kModulation = 8;    // scale, shift and their biases
inline constexpr unsigned kOutputGate = 16;   // gate and its bias
inline constexpr unsigned kSum = 32;          // the output sum
inline constexpr unsigned kNormed = 64;       // the output out
inline constexpr unsigned kE4m3 = 128;        // which is e4m3 with a scale
inline constexpr unsigned kInt8 = 2048;       // or int8 with a scale
inline constexpr unsigned kCodes = kE4m3 | kInt8;
inline constexpr unsigned kVectorOf = 1024;  // an index may choose rows' vectors
// Only for plain calls: the bias after the weight; a rounding before it, as rms_norm may have it.
inline constexpr unsigned kBias = 256;
inline constexpr unsigned kRoundedFirst = 512;

// The part of kCodes for an output of this type; 0: none.
constexpr unsigned CodesOf(Dtype type) {
  if (type == Dtype::kE4m3) return kE4m3;
  return type == Dtype::kI8 ? kInt8 : 0;
}

// Whether a call that fits vector rows is plain: exactly these parts, in the rows' type (except for
// an output in codes), and no biases.
inline bool HasPlainParts(const FusedNormParams& p, unsigned parts) {
  const auto is_there = [&](const RowOperand& operand, unsigned part) {
    return (operand.data != nullptr) == ((parts & part) != 0);
  };
  const auto fits = [&](const RowOperand& operand, unsigned part) {
    return is_there(operand, part) && (operand.data == nullptr || operand.dtype == p.x.dtype);
  };
  const bool nothing_added = p.residual_gate_bias.data == nullptr && p.scale_bias.data == nullptr &&
                             p.shift_bias.data == nullptr && p.gate_bias.data == nullptr;
  const unsigned codes = parts & kCodes;
  const bool out_fits =
      codes == 0 ? fits(p.out, kNormed) : is_there(p.out, kNormed) && CodesOf(p.out.dtype) == codes;
  return nothing_added && p.shape.width * DtypeSize(p.x.dtype) <= 16384 &&
         fits(p.residual, kResidual) && fits(p.residual_gate, kResidualGate) &&
         fits(p.weight, kAffine) && fits(p.bias, kBias) && fits(p.scale, kModulation) &&
         fits(p.shift, kModulation) && fits(p.gate, kOutputGate) && fits(p.sum, kSum) && out_fits;
}

}  // namespace reel::kernels
