// SPDX-License-Identifier: Apache-2.0
// Converts rows to e4m3 on a device (e4m3_layout.h): scales, quotients, codes. For .cu files.
#pragma once

#include <cuda_fp8.h>
#include <cuda_runtime_api.h>

#include "kernels/rows/e4m3_layout.h"
#include "kernels/rows/row_device.cuh"

namespace reel::kernels {

// The bits of |x|: as integers they are ordered like the numbers, with infinities and NaN above
// all.
__device__ inline unsigned SizeBits(float x) { return __float_as_uint(x) & 0x7fffffffu; }

template <int kCount>
__device__ inline unsigned LargestOf(const float (&x)[kCount]) {
  unsigned largest = 0;
#pragma unroll
  for (int k = 0; k < kCount; ++k) largest = max(largest, SizeBits(x[k]));
  return largest;
}

struct RowScale {
  float scale;
  float inverse;
  bool finite;
};
// The scale from the largest SizeBits of a row.
__device__ inline RowScale ScaleOf(unsigned largest) {
  if (largest >= 0x7f800000u) return {__uint_as_float(0x7fc00000u), 0, false};
  const float scale = fmaxf(__uint_as_float(largest), kLeastMaximum) / kLargestE4m3;
  return {scale, 1.0f / scale, true};
}
__device__ inline RowScale StaticScale(float scale) { return {scale, 1.0f / scale, true}; }

// Divides: many quotients of 16-bit rows are ties, which a product with the inverse would miss.
__device__ inline uint8_t ToE4m3(float x, const RowScale& scale) {
  const float quotient = x / scale.scale;
  if (!scale.finite || SizeBits(quotient) >= 0x7f800000u) return kE4m3Nan;
  return __nv_cvt_float_to_fp8(quotient, __NV_SATFINITE, __NV_E4M3);
}

// The same quotient, cheaper, for a finite row with its own or a moderate scale: the product with
// the inverse, corrected by its remainder. If a fixed scale is much too small for x, the product
// overflows and gives NaN, as the quotient would; if either is subnormal, the code is 0. The
// remainder of -0 is 0, and takes the sign with it.
__device__ inline float OwnQuotient(float x, const RowScale& scale) {
  const float near = x * scale.inverse;
  return copysignf(fmaf(fmaf(-near, scale.scale, x), scale.inverse, near), x);
}
__device__ inline uint32_t TwoToE4m3(float low, float high, const RowScale& scale) {
  return __nv_cvt_float2_to_fp8x2({OwnQuotient(low, scale), OwnQuotient(high, scale)},
                                  __NV_SATFINITE, __NV_E4M3);
}

// The codes of four values, in a word, without a scale.
__device__ inline uint32_t FourE4m3(float a, float b, float c, float d) {
  return __nv_cvt_float2_to_fp8x2({a, b}, __NV_SATFINITE, __NV_E4M3) |
         static_cast<uint32_t>(__nv_cvt_float2_to_fp8x2({c, d}, __NV_SATFINITE, __NV_E4M3)) << 16;
}

// The codes of 4 or 8 contiguous values. `quick`: use OwnQuotient.
template <int kCount>
__device__ inline void StoreE4m3(uint8_t* out, const RowScale& scale, bool quick,
                                 const float (&x)[kCount]) {
  static_assert(kCount == 4 || kCount == 8);
  uint32_t words[kCount / 4];
#pragma unroll
  for (int w = 0; w < kCount / 4; ++w) {
    const float* four = x + 4 * w;
    if (quick) {
      words[w] = TwoToE4m3(four[0], four[1], scale) | TwoToE4m3(four[2], four[3], scale) << 16;
    } else {
      words[w] = ToE4m3(four[0], scale) | ToE4m3(four[1], scale) << 8 |
                 ToE4m3(four[2], scale) << 16 | static_cast<uint32_t>(ToE4m3(four[3], scale)) << 24;
    }
  }
  if constexpr (kCount == 8) {
    *reinterpret_cast<uint2*>(out) = {words[0], words[1]};
  } else {
    *reinterpret_cast<uint32_t*>(out) = words[0];
  }
}

template <int kLanes, int kCount>
__device__ inline void GroupMaxes(unsigned (&values)[kCount], unsigned* scratch) {
  CombineGroup<kLanes>(values, scratch, 0u, [](unsigned a, unsigned b) { return max(a, b); });
}
template <int kLanes>
__device__ inline unsigned GroupMax(unsigned value, unsigned* scratch) {
  unsigned values[1] = {value};
  GroupMaxes<kLanes>(values, scratch);
  return values[0];
}

}  // namespace reel::kernels
