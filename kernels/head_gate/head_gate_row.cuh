// SPDX-License-Identifier: Apache-2.0
// head_gate for the row kernels: a vector of channels is of one head. Bound by memory.
#pragma once

#include "kernels/head_gate/head_gate_launch.h"
#include "kernels/rows/row_kernels.cuh"

namespace reel::kernels {

__device__ inline float GateOf(float logit) { return 2.0f / (1.0f + expf(-logit)); }

struct HeadGateRow {
  static constexpr Statistic kStatistic = Statistic::kNone;
  static constexpr int kRun = 1;
  HeadGateParams p;

  __host__ __device__ const RowShape& shape() const { return p.shape; }
  __host__ Dtype dtype() const { return p.x.dtype; }
  __device__ float eps() const { return 0; }

  struct Row {
    RowPointer x, logits, out;
  };
  __device__ Row At(int64_t row) const {
    const RowPlace place = PlaceOf(p.shape, row);
    return {PointAt(p.shape, p.x, place), PointAt(p.shape, p.logits, place),
            PointAt(p.shape, p.out, place)};
  }

  template <typename T, int kCount>
  __device__ void Load(const Row& row, int64_t i, float (&x)[kCount]) const {
    LoadRow<T>(row.x, i, x);
  }

  template <int kCount>
  struct Beside {
    float logit[1];
  };
  template <typename T, int kCount>
  __device__ void LoadBeside(const Row& row, int64_t i, Beside<kCount>& beside) const {
    LoadVector<T>(row.logits, Quotient(i, p.head_width), 0.0f, beside.logit);
  }

  template <typename T, int kCount>
  __device__ void Finish(const Row&, int64_t, float (&x)[kCount], const Beside<kCount>& beside,
                         const RowStatistics&) const {
    const float gate = GateOf(beside.logit[0]);
#pragma unroll
    for (int k = 0; k < kCount; ++k) x[k] *= gate;
  }
  template <typename T, int kCount>
  __device__ void StoreSum(const Row&, int64_t, const float (&)[kCount]) const {}

  template <typename T, int kCount>
  __device__ void Emit(const Row& row, int64_t i, float (&x)[kCount], const Beside<kCount>& beside,
                       const RowStatistics& statistics) const {
    Finish<T>(row, i, x, beside, statistics);
    StoreRow<T>(row.out, i, x);
  }
};

}  // namespace reel::kernels
