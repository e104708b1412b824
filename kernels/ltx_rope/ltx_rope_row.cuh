// SPDX-License-Identifier: Apache-2.0
// ltx_rope and qk_norm_rope for any strides; formula and table in ltx_rope.h.
//
// A row is a token of q, then of k. Pairs of channels are handled together, so that writing in
// place is safe: elements 2i and 2i + 1 of a run are the channels of pair i.
#pragma once

#include "kernels/ltx_rope/ltx_rope_launch.h"
#include "kernels/rows/row_kernels.cuh"

namespace reel::kernels {

template <Statistic kStatisticOf>
struct LtxRopeRow {
  static constexpr Statistic kStatistic = kStatisticOf;
  static constexpr int kRun = 2;
  LtxRopeParams p;
  RowShape all;  // both sides

  explicit LtxRopeRow(const LtxRopeParams& params) : p(params), all(params.shape) {
    all.rows *= params.sides;
  }

  __host__ __device__ const RowShape& shape() const { return all; }
  __host__ Dtype dtype() const { return p.side[0].in.dtype; }
  __device__ float eps() const { return p.eps; }

  struct Row {
    RowPointer in, out, weight, cos, sin;
    int64_t in_head_stride, out_head_stride;
    const float* axes[3];  // the row of the table of each axis
  };
  __device__ Row At(int64_t row) const {
    const LtxRopeSide& side = p.side[row < p.shape.rows ? 0 : 1];
    const RowPlace place = PlaceOf(p.shape, row < p.shape.rows ? row : row - p.shape.rows);
    Row at{PointAt(p.shape, side.in, place),
           PointAt(p.shape, side.out, place),
           PointAtVector(side.weight),
           PointAt(p.shape, p.cos, place),
           PointAt(p.shape, p.sin, place),
           side.in_head_stride,
           side.out_head_stride,
           {}};
    if (p.cos_sin != nullptr) {
      const int32_t* index =
          static_cast<const int32_t*>(p.index.data) + OffsetAt(p.shape, p.index, place);
#pragma unroll
      for (int axis = 0; axis < 3; ++axis) {
        if (axis >= p.axes) continue;
        at.axes[axis] = p.cos_sin + index[axis * p.index.inner] * p.frequencies * 2;
      }
    }
    return at;
  }

  template <typename T, int kCount>
  __device__ void Load(const Row& row, int64_t i, float (&x)[kCount]) const {
    static_assert(kCount == kRun);
    const T* data = reinterpret_cast<const T*>(row.in.data);
    const auto [first, second] = PairAt(p, i / 2);
    x[0] = ToFp32(data[ChannelOffset(first, row.in_head_stride, row.in.inner)]);
    x[1] = ToFp32(data[ChannelOffset(second, row.in_head_stride, row.in.inner)]);
  }

  template <int kCount>
  struct Beside {
    float weight[kCount];
  };
  template <typename T, int kCount>
  __device__ void LoadBeside(const Row& row, int64_t i, Beside<kCount>& beside) const {
    if constexpr (kStatistic != Statistic::kNone) {
      static_assert(kCount == kRun);
      const auto [first, second] = PairAt(p, i / 2);
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        float one[1];
        LoadVector<T>(row.weight, k == 0 ? first : second, 1.0f, one);
        beside.weight[k] = one[0];
      }
    }
  }

  template <typename T, int kCount>
  __device__ void Emit(const Row& row, int64_t i, float (&x)[kCount], const Beside<kCount>& beside,
                       const RowStatistics& statistics) const {
    if constexpr (kStatistic != Statistic::kNone) {
#pragma unroll
      for (int k = 0; k < kCount; ++k) x[k] = x[k] * statistics.rstd * beside.weight[k];
    }
    const float4 turn = TurnOf(row, i / 2);
    T* data = reinterpret_cast<T*>(row.out.data);
    const auto [first, second] = PairAt(p, i / 2);
    data[ChannelOffset(first, row.out_head_stride, row.out.inner)] =
        FromFp32<T>(x[0] * turn.x - x[1] * turn.y);
    data[ChannelOffset(second, row.out_head_stride, row.out.inner)] =
        FromFp32<T>(x[1] * turn.z + x[0] * turn.w);
  }

 private:
  __device__ int64_t ChannelOffset(int64_t i, int64_t head_stride, int64_t inner) const {
    if (p.head_width == p.shape.width) return i * inner;
    const int64_t head = Quotient(i, p.head_width);
    return head * head_stride + (i - head * p.head_width) * inner;
  }

  // cos and sin of the first channel of a pair, then of the second: only a dense table has
  // different ones.
  __device__ float4 TurnOf(const Row& row, int64_t pair) const {
    if (row.cos.data != nullptr) {
      const int64_t channel = 2 * pair;
      const auto* cos = reinterpret_cast<const float*>(row.cos.data);
      const auto* sin = reinterpret_cast<const float*>(row.sin.data);
      return {cos[channel * row.cos.inner], sin[channel * row.sin.inner],
              cos[(channel + 1) * row.cos.inner], sin[(channel + 1) * row.sin.inner]};
    }
    const int64_t unturned = UnturnedPairs(p);
    if (p.cos_sin == nullptr || pair < unturned) return {1, 0, 1, 0};
    const unsigned angle = static_cast<unsigned>(pair - unturned);
    const unsigned frequency = p.axes == 1 ? angle : angle / 3;
    const unsigned axis = p.axes == 1 ? 0 : angle - frequency * 3;
    // Selects registers: indexing the array would put it into local memory.
    const float* table = axis == 0 ? row.axes[0] : (axis == 1 ? row.axes[1] : row.axes[2]);
    const float cos = table[2 * frequency];
    const float sin = table[2 * frequency + 1];
    return {cos, sin, cos, sin};
  }
};

using LtxRopeAlone = LtxRopeRow<Statistic::kNone>;
using QkNormRopeRow = LtxRopeRow<Statistic::kMeanSquare>;

}  // namespace reel::kernels
