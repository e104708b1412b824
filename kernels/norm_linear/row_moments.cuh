// SPDX-License-Identifier: Apache-2.0
// Running moments of a row whose columns norm_linear reads in parts. For .cu files.
//
// Centred, for the layer norm: the mean, and the squared deviations from it, which parts of a row
// combine (Chan, Golub and LeVeque). Nothing cancels, however far the mean is from zero. Otherwise,
// for the rms norm: the sum of squares. Every product is an explicit fma, so that any compilation
// gives the same bits.
#pragma once

#include <cuda_runtime_api.h>

namespace reel::kernels {

template <bool kCentred>
struct RowMoments {
  float count = 0;
  float mean = 0;  // 0 unless centred
  float squares = 0;

  // Adds the first `valid` of kCount more columns; the others are zero.
  template <int kCount>
  __device__ void Add(const float (&values)[kCount], int valid) {
    if constexpr (!kCentred) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) squares = fmaf(values[i], values[i], squares);
    } else {
      if (valid <= 0) return;
      RowMoments part;
      part.count = static_cast<float>(valid);
      float sum = 0;
#pragma unroll
      for (int i = 0; i < kCount; ++i) sum += values[i];
      part.mean = valid == kCount ? sum * (1.0f / kCount) : __fdividef(sum, part.count);
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const float deviation = i < valid ? values[i] - part.mean : 0.0f;
        part.squares = fmaf(deviation, deviation, part.squares);
      }
      Append(part);
    }
  }

  __device__ void Append(const RowMoments& part) {
    if constexpr (!kCentred) {
      squares += part.squares;
    } else {
      if (part.count == 0) return;
      const float both = count + part.count;
      const float share = __fdividef(part.count, both);
      const float apart = part.mean - mean;
      squares += fmaf(__fmul_rn(apart, apart), __fmul_rn(count, share), part.squares);
      mean = fmaf(apart, share, mean);
      count = both;
    }
  }

  __device__ RowMoments OfLane(int lane) const {
    RowMoments other;
    other.count = __shfl_sync(0xffffffffu, count, lane);
    other.mean = __shfl_sync(0xffffffffu, mean, lane);
    other.squares = __shfl_sync(0xffffffffu, squares, lane);
    return other;
  }
};

// 1 / the root of the mean square; 0 for a row without columns, whose product is 0 too.
__device__ inline float RstdOf(float squares, int64_t width, float eps) {
  return width == 0 ? 0.0f : rsqrtf(squares / static_cast<float>(width) + eps);
}

}  // namespace reel::kernels
