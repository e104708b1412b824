// SPDX-License-Identifier: Apache-2.0
// channel_norm_silu for the row kernels: a row is a pixel, its width the channels; written once at
// its place and once for every pad that its frame fills. Bound by memory.
#pragma once

#include "kernels/channel_norm_silu/channel_norm_silu_launch.h"
#include "kernels/rows/row_kernels.cuh"

namespace reel::kernels {

struct ChannelNormSiluRow {
  static constexpr Statistic kStatistic = Statistic::kMeanSquare;
  static constexpr int kRun = 1;
  ChannelNormSiluParams p;

  __host__ __device__ const RowShape& shape() const { return p.shape; }
  __host__ Dtype dtype() const { return p.x.dtype; }
  __device__ float eps() const { return p.eps; }

  struct Row {
    RowPointer x, scale, shift, out;
    Copies copies;
  };
  __device__ Row At(int64_t row) const {
    return {PointAt(p.shape, p.x, row), PointAt(p.shape, p.scale, row),
            PointAt(p.shape, p.shift, row), PointAt(p.shape, p.out, row), CopiesOf(p, row)};
  }

  template <typename T, int kCount>
  __device__ void Load(const Row& row, int64_t i, float (&x)[kCount]) const {
    LoadRow<T>(row.x, i, x);
  }

  template <typename T, int kCount>
  __device__ void Emit(const Row& row, int64_t i, float (&x)[kCount],
                       const RowStatistics& statistics) const {
    float scale[kCount];
    float shift[kCount];
    LoadVector<T>(row.scale, i, 0.0f, scale);
    LoadVector<T>(row.shift, i, kNoAddend, shift);
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      x[k] = x[k] * statistics.rstd * (1.0f + scale[k]) + shift[k];
      if (p.silu) x[k] *= 1.0f / (1.0f + __expf(-x[k]));
    }
    for (int64_t frame = -row.copies.front; frame <= row.copies.back; ++frame) {
      RowPointer out = row.out;
      out.data += frame * p.out_frame_stride * static_cast<int64_t>(sizeof(T));
      StoreRow<T>(out, i, x);
    }
  }
};

}  // namespace reel::kernels
