// SPDX-License-Identifier: Apache-2.0
// Rows to int8 with a scale each, for a matrix product in 8 bits. A few large channels would leave
// the others a few codes, so groups of 32 elements are turned first: each becomes a sum of all 32
// with signs that no two others share (Hadamard). Two rows that are turned have the product that
// they had before.
//
//   z = x, or gelu_tanh(x)                       element q D/4 + 8 g + e of a row: q < 4, e < 8
//   y[q, g, e] = sum of z[p, g, d] over p and d, minus where (8 q + e) & (8 p + d) has odd bits
//   scale = max(max|y|, 1e-12) / 127 / sqrt(32)
//   out   = int8( y 127 / max(max|y|, 1e-12) ), nearest even
//
// In fp32. So z W^T is (out W'^T) scale scale', where W' and scale' are W by the same formula.
// A row whose sums are not finite gets the scale NaN, and codes without meaning.
// x may be of any strides; nothing overlaps. INVALID_ARGUMENT unless D is a multiple of 32.
#pragma once

#include "absl/status/status.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

inline constexpr int64_t kTurnedTogether = 32;

struct Int8RowsArgs {
  TensorView x;      // [..., D], rank 1 to 5
  TensorView out;    // int8, the sizes of x
  TensorView scale;  // fp32 [...], one of a row
  bool gelu = false;
};

absl::Status Int8Rows(const Int8RowsArgs& args, const Execution& run);

OpVariants Int8RowsCpuVariants();

}  // namespace reel::kernels
