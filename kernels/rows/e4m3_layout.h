// SPDX-License-Identifier: Apache-2.0
// Rows as e4m3 with a scale each: quantize_rows, and the operators that write such an output.
// Included by nvcc too.
//
//   scale = max(max|x|, 1e-12) / 448        out = e4m3( clamp(x / scale, -448, 448) ), nearest even
//
// x is what would else be rounded to the output's type, in fp32; the quotient is rounded to fp32
// first. A row with a value that is not finite gets the scale NaN and 0x7F, e4m3's NaN, in every
// byte. With a fixed scale only quotients that are not finite become 0x7F.
#pragma once

#include "kernels/rows/row_layout.h"

namespace reel::kernels {

inline constexpr float kLargestE4m3 = 448.0f;
inline constexpr float kLeastMaximum = 1e-12f;
inline constexpr uint8_t kE4m3Nan = 0x7F;

// The scale of an output in codes, also in int8 (int8_layout.h), which has no fixed scale. Unused
// if the output has another type.
struct CodeScale {
  RowOperand rows;  // fp32, one element a row: written; absent with a fixed scale
  float fixed = 0;  // for all rows; 0: each has its own
};

// Bounds of fixed scales that tuned code may use like a row's own. Within them neither the
// reciprocal nor a product with it becomes subnormal or infinite, unless the code is 0 or the
// largest.
inline bool IsModerateScale(const CodeScale& scale) {
  return scale.fixed == 0 || (scale.fixed > 0x1p-60f && scale.fixed < 0x1p60f);
}

}  // namespace reel::kernels
