// SPDX-License-Identifier: Apache-2.0
// int8_rows on a device: what its two kernels share. Bound by memory: x is read once, a byte an
// element written.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/int8_rows/int8_rows_launch.h"
#include "kernels/rows/e4m3_device.cuh"

namespace reel::kernels {

// The group of a thread in place, values of a quarter side by side: five rounds of sums and
// differences.
__device__ inline void Turn(float (&values)[kTurned]) {
#pragma unroll
  for (int apart = 1; apart < kTurned; apart *= 2) {
#pragma unroll
    for (int i = 0; i < kTurned; ++i) {
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
// From the largest SizeBits of a row.
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

}  // namespace reel::kernels
