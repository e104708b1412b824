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
    RowPointer x, residual, bias, scale, shift, sum, out;
    Copies copies;
  };
  __device__ Row At(int64_t row) const {
    const RowPlace place = PlaceOf(p.shape, row);
    const auto at = [&](const RowOperand& operand) { return PointAt(p.shape, operand, place); };
    return {at(p.x),   at(p.residual), PointAtVector(p.bias), at(p.scale), at(p.shift), at(p.sum),
            at(p.out), PadsOf(row)};
  }

  template <typename T, int kCount>
  __device__ void Load(const Row& row, int64_t i, float (&x)[kCount]) const {
    LoadRow<T>(row.x, i, x);
    float added[kCount];
    LoadVector<T>(row.residual, i, kNoAddend, added);
#pragma unroll
    for (int k = 0; k < kCount; ++k) x[k] += added[k];
    LoadVector<T>(row.bias, i, kNoAddend, added);
#pragma unroll
    for (int k = 0; k < kCount; ++k) x[k] += added[k];
  }

  template <int kCount>
  struct Beside {
    float scale[kCount], shift[kCount];
  };
  template <typename T, int kCount>
  __device__ void LoadBeside(const Row& row, int64_t i, Beside<kCount>& beside) const {
    LoadVector<T>(row.scale, i, 0.0f, beside.scale);
    LoadVector<T>(row.shift, i, kNoAddend, beside.shift);
  }

  template <typename T, int kCount>
  __device__ void Emit(const Row& row, int64_t i, float (&x)[kCount], const Beside<kCount>& beside,
                       const RowStatistics& statistics) const {
    if (row.sum.data != nullptr) StoreRow<T>(row.sum, i, x);
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      x[k] = x[k] * statistics.rstd * (1.0f + beside.scale[k]) + beside.shift[k];
      if (p.silu) x[k] = TimesSigmoid(x[k], x[k]);
    }
    StoreRow<T>(row.out, i, x);
    for (int64_t frame = 1; frame <= row.copies.front; ++frame) Copy<T>(row, i, -frame, x);
    for (int64_t frame = 1; frame <= row.copies.back; ++frame) Copy<T>(row, i, frame, x);
  }

 private:
  // CopiesOf without a division where there is one clip.
  __device__ Copies PadsOf(int64_t row) const {
    if (p.pad_front == 0 && p.pad_back == 0) return {0, 0};
    const int64_t clip = p.frames * p.frame_rows;
    const int64_t in_clip = row < clip ? row : row - Quotient(row, clip) * clip;
    return {in_clip < p.frame_rows ? p.pad_front : 0,
            in_clip >= clip - p.frame_rows ? p.pad_back : 0};
  }

  template <typename T, int kCount>
  __device__ void Copy(const Row& row, int64_t i, int64_t frame, const float (&x)[kCount]) const {
    RowPointer out = row.out;
    out.data += frame * p.out_frame_stride * static_cast<int64_t>(sizeof(T));
    StoreRow<T>(out, i, x);
  }
};

}  // namespace reel::kernels
