// SPDX-License-Identifier: Apache-2.0
// activation and gated_activation for the row kernels: y = act(x + bias) * value, in fp32. Bound by
// memory: 2 n (3 n gated) elements a row.
#pragma once

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
    return {PointAt(p.shape, p.x, row), PointAt(p.shape, p.bias, 0), PointAt(p.shape, p.value, row),
            PointAt(p.shape, p.out, row)};
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

  template <typename T, int kCount>
  __device__ void Emit(const Row& row, int64_t i, float (&x)[kCount], const RowStatistics&) const {
    switch (p.kind) {
      case Activation::kGeluErf:
        Each(x, [](float v) { return 0.5f * v * erfcf(-0.707106781f * v); });
        break;
      case Activation::kGeluTanh:
        Each(x, [](float v) { return v * Sigmoid(1.59576912f * (v + 0.044715f * v * v * v)); });
        break;
      case Activation::kGeluQuick:
        Each(x, [](float v) { return v * Sigmoid(1.702f * v); });
        break;
      case Activation::kSilu:
        Each(x, [](float v) { return v * Sigmoid(v); });
        break;
    }
    if (row.value.data != nullptr) {
      float value[kCount];
      LoadRow<T>(row.value, i, value);
#pragma unroll
      for (int k = 0; k < kCount; ++k) x[k] *= value[k];
    }
    StoreRow<T>(row.out, i, x);
  }

 private:
  __device__ static float Sigmoid(float z) { return 1.0f / (1.0f + __expf(-z)); }

  template <int kCount, typename Function>
  __device__ static void Each(float (&x)[kCount], const Function& function) {
#pragma unroll
    for (int k = 0; k < kCount; ++k) x[k] = function(x[k]);
  }
};

}  // namespace reel::kernels
