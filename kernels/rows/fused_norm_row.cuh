// SPDX-License-Identifier: Apache-2.0
// The fused norm for the row kernels, with the parts that an operator has as a template argument,
// so that the others cost no register. Formula and shapes: fused_norm.h. Bound by memory: every
// operand of the rows is read or written once; vectors come from the caches.
#pragma once

#include "kernels/rows/fused_norm_layout.h"
#include "kernels/rows/row_kernels.cuh"

namespace reel::kernels {

template <Statistic kStatisticOf, unsigned kParts>
struct FusedNormRow {
  static constexpr Statistic kStatistic = kStatisticOf;
  static constexpr int kRun = 1;
  static constexpr unsigned kPartsOf = kParts;
  FusedNormParams p;

  __host__ __device__ const RowShape& shape() const { return p.shape; }
  __host__ Dtype dtype() const { return p.x.dtype; }
  __device__ float eps() const { return p.eps; }

  struct Row {
    RowPointer x, residual, residual_gate, residual_gate_bias, weight, bias;
    RowPointer scale, scale_bias, shift, shift_bias, gate, gate_bias, sum, out;
  };
  __device__ Row At(int64_t row) const {
    const RowPlace place = PlaceOf(p.shape, row);
    const auto at = [&](const RowOperand& operand) { return PointAt(p.shape, operand, place); };
    RowPlace taken = place;
    if constexpr ((kParts & kVectorOf) != 0) {
      if (p.vector_of != nullptr) taken = RowPlace{{p.vector_of[row]}};
    }
    const auto vector = [&](const RowOperand& operand) { return PointAt(p.shape, operand, taken); };
    return {.x = at(p.x),
            .residual = at(p.residual),
            .residual_gate = vector(p.residual_gate),
            .residual_gate_bias = vector(p.residual_gate_bias),
            .weight = vector(p.weight),
            .bias = vector(p.bias),
            .scale = vector(p.scale),
            .scale_bias = vector(p.scale_bias),
            .shift = vector(p.shift),
            .shift_bias = vector(p.shift_bias),
            .gate = vector(p.gate),
            .gate_bias = vector(p.gate_bias),
            .sum = at(p.sum),
            .out = at(p.out)};
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

  template <int kCount>
  struct Beside {
    float scale[kCount], shift[kCount], gate[kCount];
  };
  template <typename T, int kCount>
  __device__ void LoadBeside(const Row& row, int64_t i, Beside<kCount>& beside) const {
    if constexpr ((kParts & kModulation) != 0) {
      LoadBiased<T>(row.scale, row.scale_bias, i, 0.0f, beside.scale);
      LoadBiased<T>(row.shift, row.shift_bias, i, kNoAddend, beside.shift);
    }
    if constexpr ((kParts & kOutputGate) != 0) {
      LoadBiased<T>(row.gate, row.gate_bias, i, 1.0f, beside.gate);
    }
  }

  template <typename T, int kCount>
  __device__ void Emit(const Row& row, int64_t i, float (&v)[kCount], const Beside<kCount>& beside,
                       const RowStatistics& statistics) const {
    StoreSum<T>(row, i, v);
    if constexpr ((kParts & kNormed) != 0) {
      Finish<T>(row, i, v, beside, statistics);
      StoreRow<T>(row.out, i, v);
    }
  }

  template <typename T, int kCount>
  __device__ void StoreSum(const Row& row, int64_t i, const float (&v)[kCount]) const {
    if constexpr ((kParts & kSum) != 0) StoreRow<T>(row.sum, i, v);
  }
  template <typename T, int kCount>
  __device__ void Finish(const Row& row, int64_t i, float (&v)[kCount],
                         const Beside<kCount>& beside, const RowStatistics& statistics) const {
#pragma unroll
    for (int k = 0; k < kCount; ++k) v[k] = (v[k] - statistics.mean) * statistics.rstd;
    if constexpr ((kParts & kAffine) != 0) Affine<T>(row, i, v);
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      if constexpr ((kParts & kModulation) != 0) {
        v[k] = v[k] * (1.0f + beside.scale[k]) + beside.shift[k];
      }
      if constexpr ((kParts & kOutputGate) != 0) v[k] *= beside.gate[k];
    }
  }

 private:
  // Absent in most calls.
  template <typename T, int kCount>
  __device__ static void Affine(const Row& row, int64_t i, float (&v)[kCount]) {
    float vector[kCount];
    if (row.weight.data != nullptr) {
      LoadVector<T>(row.weight, i, 1.0f, vector);
#pragma unroll
      for (int k = 0; k < kCount; ++k) v[k] *= vector[k];
    }
    if (row.bias.data != nullptr) {
      LoadVector<T>(row.bias, i, kNoAddend, vector);
#pragma unroll
      for (int k = 0; k < kCount; ++k) v[k] += vector[k];
    }
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
