// SPDX-License-Identifier: Apache-2.0
// Converts rows to int8 on a device (int8_layout.h): rotation, scales, codes. For .cu files.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/rows/e4m3_device.cuh"
#include "kernels/rows/int8_layout.h"

namespace reel::kernels {

// Rotates in place, by rounds of sums and differences; the values of a quarter of a group
// (int8_layout.h) are contiguous.
template <int kCount>
__device__ inline void Turn(float (&values)[kCount]) {
#pragma unroll
  for (int apart = 1; apart < kCount; apart *= 2) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if ((i & apart) != 0) continue;
      const float low = values[i], high = values[i + apart];
      values[i] = low + high;
      values[i + apart] = low - high;
    }
  }
}

struct Int8Scale {
  float scale;
  float codes_of_one;
};
// The scale from the largest SizeBits of a row.
__device__ inline Int8Scale Int8ScaleOf(unsigned largest) {
  if (largest >= 0x7f800000u) return {__uint_as_float(0x7fc00000u), 0};
  const float sum = fmaxf(__uint_as_float(largest), kLeastSum);
  return {sum / kLargestInt8 / kTurnedLength, kLargestInt8 / sum};
}

// The code of y is the low byte: the sum with 1.5 * 2^23 has no bits for a fraction.
__device__ inline uint32_t Int8Bits(float y, float codes_of_one) {
  return __float_as_uint(fmaf(y, codes_of_one, 12582912.0f));
}
__device__ inline uint32_t FourInt8(const float* y, float codes_of_one) {
  const uint32_t low =
      __byte_perm(Int8Bits(y[0], codes_of_one), Int8Bits(y[1], codes_of_one), 0x0040);
  const uint32_t high =
      __byte_perm(Int8Bits(y[2], codes_of_one), Int8Bits(y[3], codes_of_one), 0x0040);
  return __byte_perm(low, high, 0x5410);
}

// Stores the codes of a rotated group, whose quarters are so many bytes apart.
__device__ inline void StoreInt8(char* out, int64_t quarter, const float (&group)[kTurned],
                                 float codes_of_one) {
#pragma unroll
  for (int q = 0; q < kQuarters; ++q) {
    *reinterpret_cast<uint2*>(out + q * quarter) = {
        FourInt8(group + q * kTurnedRun, codes_of_one),
        FourInt8(group + q * kTurnedRun + 4, codes_of_one)};
  }
}

}  // namespace reel::kernels
