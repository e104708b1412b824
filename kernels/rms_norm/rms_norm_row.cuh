// SPDX-License-Identifier: Apache-2.0
// rms_norm for the row kernels.
//
// y = round( x * rsqrt(mean(x^2) + eps) * (weight + offset) + bias ), all in fp32.
// x, out [rows, D]; weight, bias [D] of x's dtype or fp32, each optional.
// Bound by memory: 2 * rows * D * sizeof(dtype) bytes.
#pragma once

#include "kernels/rms_norm/rms_norm_launch.h"
#include "kernels/rows/row_kernels.cuh"

namespace reel::kernels {

struct RmsNormRow {
  static constexpr Statistic kStatistic = Statistic::kMeanSquare;
  static constexpr int kRun = 1;
  RmsNormParams p;

  __host__ __device__ const RowShape& shape() const { return p.shape; }
  __host__ Dtype dtype() const { return p.x.dtype; }
  __device__ float eps() const { return p.eps; }

  struct Row {
    RowPointer x, weight, bias, out;
  };
  __device__ Row At(int64_t row) const {
    const RowPlace place = PlaceOf(p.shape, row);
    return {PointAt(p.shape, p.x, place), PointAtVector(p.weight), PointAtVector(p.bias),
            PointAt(p.shape, p.out, place)};
  }

  template <typename T, int kCount>
  __device__ void Load(const Row& row, int64_t i, float (&x)[kCount]) const {
    LoadRow<T>(row.x, i, x);
  }

  template <int kCount>
  struct Beside {
    float weight[kCount];
  };
  template <typename T, int kCount>
  __device__ void LoadBeside(const Row& row, int64_t i, Beside<kCount>& beside) const {
    LoadVector<T>(row.weight, i, 1.0f, beside.weight);
  }

  template <typename T, int kCount>
  __device__ void Emit(const Row& row, int64_t i, float (&x)[kCount], const Beside<kCount>& beside,
                       const RowStatistics& statistics) const {
    Finish<T>(row, i, x, beside, statistics);
    StoreRow<T>(row.out, i, x);
  }

  template <typename T, int kCount>
  __device__ void StoreSum(const Row&, int64_t, const float (&)[kCount]) const {}
  template <typename T, int kCount>
  __device__ void Finish(const Row& row, int64_t i, float (&x)[kCount],
                         const Beside<kCount>& beside, const RowStatistics& statistics) const {
    const float offset = row.weight.data == nullptr ? 0.0f : p.weight_offset;
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      float normed = x[k] * statistics.rstd;
      if (p.round_before_weight) normed = ToFp32(FromFp32<T>(normed));
      x[k] = normed * (beside.weight[k] + offset);
    }
    if (row.bias.data != nullptr) {
      float bias[kCount];
      LoadVector<T>(row.bias, i, kNoAddend, bias);
#pragma unroll
      for (int k = 0; k < kCount; ++k) x[k] += bias[k];
    }
  }
};

}  // namespace reel::kernels
