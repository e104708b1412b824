// SPDX-License-Identifier: Apache-2.0
// quantize_rows on a device: what its two kernels share. Bound by memory: x is read once, a byte an
// element written.
#pragma once

#include <cuda_fp8.h>
#include <cuda_runtime_api.h>

#include "kernels/quantize_rows/quantize_rows_launch.h"
#include "kernels/rows/row_device.cuh"

namespace reel::kernels {

// The bits of |x|: as integers they are ordered like the numbers, infinities and NaN above all.
__device__ inline unsigned SizeBits(float x) { return __float_as_uint(x) & 0x7fffffffu; }

struct RowScale {
  float scale;
  float inverse;
  bool finite;
};
// From the largest SizeBits of a row.
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

// The same quotient for less, in a finite row with its own scale: the product with the inverse,
// corrected by its remainder. Neither can overflow, and where either is subnormal the code is 0.
__device__ inline float OwnQuotient(float x, const RowScale& scale) {
  const float near = x * scale.inverse;
  return fmaf(fmaf(-near, scale.scale, x), scale.inverse, near);
}
__device__ inline uint32_t TwoToE4m3(float low, float high, const RowScale& scale) {
  return __nv_cvt_float2_to_fp8x2({OwnQuotient(low, scale), OwnQuotient(high, scale)},
                                  __NV_SATFINITE, __NV_E4M3);
}

// The largest over kLanes threads, as GroupSum.
template <int kLanes>
__device__ inline unsigned GroupMax(unsigned value, unsigned* scratch) {
#pragma unroll
  for (int lane = 16; lane > 0; lane /= 2) {
    value = max(value, __shfl_xor_sync(0xffffffffu, value, lane));
  }
  if constexpr (kLanes > 32) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    if (threadIdx.x % 32 == 0) scratch[warp] = value;
    __syncthreads();
    const int first = warp / (kLanes / 32) * (kLanes / 32);
#pragma unroll
    for (int w = 0; w < kLanes / 32; ++w) value = max(value, scratch[first + w]);
  }
  return value;
}

__device__ inline uint8_t* OutAt(const QuantizeRowsParams& p, const RowPlace& place) {
  return static_cast<uint8_t*>(p.out.data) + OffsetAt(p.shape, p.out, place);
}
__device__ inline void StoreScale(const QuantizeRowsParams& p, const RowPlace& place,
                                  const RowScale& scale) {
  if (p.static_scale != nullptr) return;
  static_cast<float*>(p.scale.data)[OffsetAt(p.shape, p.scale, place)] = scale.scale;
}

}  // namespace reel::kernels
