// SPDX-License-Identifier: Apache-2.0
// Rows of q and k in int8: what a code is worth. For .cu files.
#pragma once

#include "kernels/rows/int8_device.cuh"

namespace reel::kernels {

inline constexpr int kTurnedChannels = 16;
// Rounded codes of two rows this long, each at most half a code off in each of 64 channels, have a
// product below 2^17.
inline constexpr float kLongestCodes = 358;

// The bits of the least that a code may be worth: so that none is above 127, from the SizeBits of a
// turned row's largest, and so that the row is no longer than that, from the sum of its squares
// before it was turned. A row that is not finite, or whose squares are not, gives a number that is
// not.
__device__ inline unsigned CodeBits(unsigned largest) {
  return SizeBits(__uint_as_float(largest) / kLargestInt8);
}
__device__ inline unsigned LengthBits(float squares) {
  return SizeBits(sqrtf(kTurnedChannels * squares) / kLongestCodes);
}

}  // namespace reel::kernels
