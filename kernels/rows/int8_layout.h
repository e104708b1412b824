// SPDX-License-Identifier: Apache-2.0
// Rows as int8 with a scale each: int8_rows, and the operators that write such an output. Included
// by nvcc too.
//
// A few large channels would leave few codes to the others. So groups of 32 elements are rotated
// first: each element becomes a signed sum of all 32, by a Hadamard matrix. This keeps products of
// rows, up to a factor that the scale includes.
//
//   element q D/4 + 8 g + e of a row: q < 4, e < 8
//   y[q, g, e] = sum of x[p, g, d] over p and d, minus where (8 q + e) & (8 p + d) has odd bits
//   scale = max(max|y|, 1e-12) / 127 / sqrt(32)
//   out   = int8( y 127 / max(max|y|, 1e-12) ), nearest even
//
// In fp32. So x W^T is (out W'^T) scale scale', where W' and scale' are W by the same formula.
// A row whose sums are not finite gets the scale NaN, and codes without meaning.
#pragma once

#include <cstdint>

namespace reel::kernels {

// A group is a run of eight elements from each of the four quarters of a row.
inline constexpr int kQuarters = 4, kTurnedRun = 8, kTurned = kQuarters * kTurnedRun;
inline constexpr float kLargestInt8 = 127;
inline constexpr float kLeastSum = 1e-12f;
// The rotation makes a row sqrt(32) times as long; rounded once, as on a device.
inline constexpr float kTurnedLength = 5.65685425f;

// For rows written in int8 by kernels that hold rows in registers: the groups of one warp, or of
// two or four.
inline constexpr int64_t kPlainInt8Widths[] = {32 * kTurned, 64 * kTurned, 128 * kTurned};

// Also of an empty row.
inline bool IsPlainInt8Width(int64_t width) {
  bool is = width == 0;
  for (const int64_t fits : kPlainInt8Widths) is = is || width == fits;
  return is;
}

}  // namespace reel::kernels
