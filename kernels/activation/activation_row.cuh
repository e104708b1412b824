// SPDX-License-Identifier: Apache-2.0
// activation and gated_activation for the row kernels: y = act(x + bias) * value, in fp32. Bound by
// memory: 2 n (3 n gated) elements a row.
#pragma once

#include "kernels/activation/activation_function.cuh"
#include "kernels/activation/activation_launch.h"
#include "kernels/rows/row_kernels.cuh"

namespace reel::kernels {

struct ActivationRow {
  static constexpr Statistic kStatistic = Statistic::kNone;
  static constexpr int kRun = 1;
  ActivationParams p;

  __host__ __device__ const RowShape& shape() const { return p.shape; }
  __host__ Dtype dtype() const { return p.x.dtype; }
  __device__ float eps() const { return 0; }

  struct Row {
    RowPointer x, bias, value, out;
  };
  __device__ Row At(int64_t row) const {
    const RowPlace place = PlaceOf(p.shape, row);
    return {PointAt(p.shape, p.x, place), PointAtVector(p.bias), PointAt(p.shape, p.value, place),
            PointAt(p.shape, p.out, place)};
  }

  template <typename T, int kCount>
  __device__ void Load(const Row& row, int64_t i, float (&x)[kCount]) const {
    LoadRow<T>(row.x, i, x);
    if (row.bias.data == nullptr) return;
    float bias[kCount];
    LoadVector<T>(row.bias, i, 0.0f, bias);
#pragma unroll
    for (int k = 0; k < kCount; ++k) x[k] += bias[k];
  }

  template <int kCount>
  struct Beside {
    float value[kCount];
  };
  template <typename T, int kCount>
  __device__ void LoadBeside(const Row& row, int64_t i, Beside<kCount>& beside) const {
    if (row.value.data != nullptr) LoadRow<T>(row.value, i, beside.value);
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
  __device__ void Finish(const Row& row, int64_t, float (&x)[kCount], const Beside<kCount>& beside,
                         const RowStatistics&) const {
    switch (p.kind) {
      case Activation::kGeluErf:
        Each<Activation::kGeluErf>(x);
        break;
      case Activation::kGeluTanh:
        Each<Activation::kGeluTanh>(x);
        break;
      case Activation::kGeluQuick:
        Each<Activation::kGeluQuick>(x);
        break;
      case Activation::kSilu:
        Each<Activation::kSilu>(x);
        break;
      case Activation::kFatRelu:
        Each<Activation::kFatRelu>(x);
        break;
    }
    if (row.value.data != nullptr) {
#pragma unroll
      for (int k = 0; k < kCount; ++k) x[k] *= beside.value[k];
    }
  }

 private:
  template <Activation kKind, int kCount>
  __device__ void Each(float (&x)[kCount]) const {
#pragma unroll
    for (int k = 0; k < kCount; ++k) x[k] = Activated<kKind>(x[k], p.threshold);
  }
};

}  // namespace reel::kernels
