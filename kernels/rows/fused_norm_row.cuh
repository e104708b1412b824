// SPDX-License-Identifier: Apache-2.0
// The fused norm for the row kernels, with the parts that an operator has as a template argument,
// so that the others cost no register. Formula and shapes: fused_norm.h. Bound by memory: every
// operand of the rows is read or written once; vectors come from the caches.
#pragma once

#include "kernels/rows/fused_norm.h"
#include "kernels/rows/row_kernels.cuh"

namespace reel::kernels {

inline constexpr unsigned kResidual = 1;      // residual, without a gate
inline constexpr unsigned kResidualGate = 2;  // its gate and that gate's bias; either may be absent
inline constexpr unsigned kAffine = 4;        // weight, bias
inline constexpr unsigned kModulation = 8;    // scale, shift and their biases
inline constexpr unsigned kOutputGate = 16;   // gate and its bias
inline constexpr unsigned kSum = 32;          // the output sum
inline constexpr unsigned kNormed = 64;       // the output out

template <Statistic kStatisticOf, unsigned kParts>
struct FusedNormRow {
  static constexpr Statistic kStatistic = kStatisticOf;
  static constexpr int kRun = 1;
  FusedNormParams p;

  __host__ __device__ const RowShape& shape() const { return p.shape; }
  __host__ Dtype dtype() const { return p.x.dtype; }
  __device__ float eps() const { return p.eps; }

  struct Row {
    RowPointer x, residual, residual_gate, residual_gate_bias, weight, bias;
    RowPointer scale, scale_bias, shift, shift_bias, gate, gate_bias, sum, out;
  };
  __device__ Row At(int64_t row) const {
    const auto at = [&](const RowOperand& operand) { return PointAt(p.shape, operand, row); };
    return {at(p.x),      at(p.residual),   at(p.residual_gate), at(p.residual_gate_bias),
            at(p.weight), at(p.bias),       at(p.scale),         at(p.scale_bias),
            at(p.shift),  at(p.shift_bias), at(p.gate),          at(p.gate_bias),
            at(p.sum),    at(p.out)};
  }

  template <typename T, int kCount>
  __device__ void Load(const Row& row, int64_t i, float (&v)[kCount]) const {
    LoadRow<T>(row.x, i, v);
    if constexpr ((kParts & kResidual) != 0) {
      float residual[kCount];
      float gate[kCount];
      LoadRow<T>(row.residual, i, residual);
      if constexpr ((kParts & kResidualGate) != 0) {
        LoadBiased<T>(row.residual_gate, row.residual_gate_bias, i, 1.0f, gate);
      }
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        v[k] += (kParts & kResidualGate) != 0 ? residual[k] * gate[k] : residual[k];
      }
    }
  }

  template <typename T, int kCount>
  __device__ void Emit(const Row& row, int64_t i, float (&v)[kCount],
                       const RowStatistics& statistics) const {
    if constexpr ((kParts & kSum) != 0) StoreRow<T>(row.sum, i, v);
    if constexpr ((kParts & kNormed) != 0) EmitNormed<T>(row, i, v, statistics);
  }

 private:
  template <typename T, int kCount>
  __device__ void EmitNormed(const Row& row, int64_t i, float (&v)[kCount],
                             const RowStatistics& statistics) const {
#pragma unroll
    for (int k = 0; k < kCount; ++k) v[k] = (v[k] - statistics.mean) * statistics.rstd;
    if constexpr ((kParts & kAffine) != 0) {
      float weight[kCount];
      float bias[kCount];
      LoadVector<T>(row.weight, i, 1.0f, weight);
      LoadVector<T>(row.bias, i, kNoAddend, bias);
#pragma unroll
      for (int k = 0; k < kCount; ++k) v[k] = v[k] * weight[k] + bias[k];
    }
    if constexpr ((kParts & kModulation) != 0) {
      float scale[kCount];
      float shift[kCount];
      LoadBiased<T>(row.scale, row.scale_bias, i, 0.0f, scale);
      LoadBiased<T>(row.shift, row.shift_bias, i, kNoAddend, shift);
#pragma unroll
      for (int k = 0; k < kCount; ++k) v[k] = v[k] * (1.0f + scale[k]) + shift[k];
    }
    if constexpr ((kParts & kOutputGate) != 0) {
      float gate[kCount];
      LoadBiased<T>(row.gate, row.gate_bias, i, 1.0f, gate);
#pragma unroll
      for (int k = 0; k < kCount; ++k) v[k] *= gate[k];
    }
    StoreRow<T>(row.out, i, v);
  }

  template <typename T, int kCount>
  __device__ static void LoadBiased(const RowPointer& row, const RowPointer& bias, int64_t i,
                                    float absent, float (&values)[kCount]) {
    LoadVector<T>(row, i, absent, values);
    if (bias.data == nullptr) return;
    float addend[kCount];
    LoadVector<T>(bias, i, 0.0f, addend);
#pragma unroll
    for (int k = 0; k < kCount; ++k) values[k] += addend[k];
  }
};

}  // namespace reel::kernels
