// SPDX-License-Identifier: Apache-2.0
// Converts rows that a thread group holds in registers to e4m3. For .cu files.
#pragma once

#include "kernels/rows/e4m3_device.cuh"
#include "kernels/rows/plain_row.cuh"

namespace reel::kernels {

// One thread's part of kRows rows: the fp32 values of kVectors vectors each, kLanes apart.
template <int kPer, int kVectors, int kLanes, int kRows>
struct E4m3Part {
  using Scale = RowScale;

  float values[kRows][kVectors][kPer];

  // Reduces all rows at once, with one barrier. `scratch` as in CombineGroup.
  __device__ void Scales(const PlainCodes& out, int vectors, int lane, unsigned* scratch,
                         RowScale (&scales)[kRows]) const {
    if (out.fixed != 0) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) scales[r] = StaticScale(out.fixed);
      return;
    }
    unsigned largest[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      largest[r] = 0;
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        if (v * kLanes + lane < vectors) largest[r] = max(largest[r], LargestOf(values[r][v]));
      }
    }
    GroupMaxes<kLanes>(largest, scratch);
#pragma unroll
    for (int r = 0; r < kRows; ++r) scales[r] = ScaleOf(largest[r]);
  }

  // Stores row r, which is `row` of `outer`.
  __device__ void Store(const PlainCodes& out, int64_t outer, int64_t row, int vectors, int lane,
                        int r, const RowScale& scale) const {
    auto* codes = reinterpret_cast<uint8_t*>(out.codes.data) + outer * out.codes.outer +
                  row * out.codes.inner;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int vector = v * kLanes + lane;
      if (vector < vectors) StoreE4m3(codes + vector * kPer, scale, scale.finite, values[r][v]);
    }
    if (out.fixed != 0 || lane != 0) return;
    *reinterpret_cast<float*>(out.scales.data + outer * out.scales.outer + row * out.scales.inner) =
        scale.scale;
  }
};

}  // namespace reel::kernels
