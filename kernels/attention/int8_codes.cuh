// SPDX-License-Identifier: Apache-2.0
// Computes the scale of int8 codes for rows of q and k. For .cu files.
#pragma once

#include "kernels/rows/int8_device.cuh"

namespace reel::kernels {

inline constexpr int kTurnedChannels = 16;
// Two rows of rounded codes of this length, each code at most half off, have a product below 2^17.
constexpr float LongestCodes(int width) { return width == 128 ? 356 : 358; }

// The bits of the smallest scale for a row. It keeps codes within 127, by the SizeBits of the
// rotated row's largest value, and the row's length in bounds, by its sum of squares before the
// rotation. Not finite if the row or its squares are not.
__device__ inline unsigned CodeBits(unsigned largest) {
  return SizeBits(__uint_as_float(largest) / kLargestInt8);
}
template <int kWidth>
__device__ inline unsigned LengthBits(float squares) {
  return SizeBits(sqrtf(kTurnedChannels * squares) / LongestCodes(kWidth));
}

}  // namespace reel::kernels
