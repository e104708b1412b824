// SPDX-License-Identifier: Apache-2.0
// Functions of fp32 that a compiler can vectorise, for `cpu` variants; libm's calls would prevent
// that.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/rows/row_vectors.h"

namespace reel::kernels {

// e^x within 2 ulp; 0 and infinity beyond fp32's range.
REEL_INLINE float VectorExp(float x) {
  x = x < -110.0f ? -110.0f : x;
  x = x > 100.0f ? 100.0f : x;
  // x = n ln 2 + r with |r| <= ln 2 / 2. The sum rounds to an integer in its low bits.
  const float shifted = x * 1.44269504f + 12582912.0f;
  const float n = shifted - 12582912.0f;
  const float r = (x - n * 0.693145752f) - n * 1.42860677e-6f;
  float sum = 1.0f / 5040.0f;
  sum = sum * r + 1.0f / 720.0f;
  sum = sum * r + 1.0f / 120.0f;
  sum = sum * r + 1.0f / 24.0f;
  sum = sum * r + 1.0f / 6.0f;
  sum = sum * r + 0.5f;
  sum = sum * r + 1.0f;
  sum = sum * r + 1.0f;
  // 2^n in two factors: n reaches below the smallest and above the largest exponent.
  const int32_t whole = std::bit_cast<int32_t>(shifted) - 0x4b400000;
  const int32_t half = whole >> 1;
  const float low = std::bit_cast<float>((half + 127) << 23);
  const float high = std::bit_cast<float>((whole - half + 127) << 23);
  return sum * low * high;
}

REEL_INLINE float VectorSigmoid(float x) { return 1.0f / (1.0f + VectorExp(-x)); }

}  // namespace reel::kernels
