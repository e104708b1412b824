// SPDX-License-Identifier: Apache-2.0
// One thread's part of a row whose vectors all have the rows' type, packed in registers. For .cu
// files.
#pragma once

#include "kernels/rows/fused_norm_row.cuh"
#include "kernels/rows/row_device.cuh"

namespace reel::kernels {

// Rows are [outer, inner]; strides in bytes.
struct PlainOperand {
  char* data;
  int64_t outer;
  int64_t inner;
};

inline PlainOperand PlainOf(const RowShape& shape, const RowOperand& operand) {
  const int64_t bytes = DtypeSize(operand.dtype);
  if (shape.dims < 2) return {static_cast<char*>(operand.data), 0, operand.strides[0] * bytes};
  return {static_cast<char*>(operand.data), operand.strides[0] * bytes, operand.strides[1] * bytes};
}

// An output in codes.
struct PlainCodes {
  PlainOperand codes;
  PlainOperand scales;
  float fixed;  // as in CodeScale
};

inline PlainCodes PlainOf(const RowShape& shape, const RowOperand& out, const CodeScale& scale) {
  return {PlainOf(shape, out), PlainOf(shape, scale.rows), scale.fixed};
}

// The offset of a row in an operand.
struct PlainPlace {
  int64_t outer, inner;
};

struct PlainNormParams {
  PlainOperand x, residual, residual_gate, weight, bias, scale, shift, gate, sum, out;
  int64_t outer_rows;
  int64_t inner_rows;
  int32_t vectors;  // of a row
  float inverse_width;
  float eps;
  PlainCodes codes;  // instead of out
  // As in FusedNormParams; vectors are then the outer stride apart.
  const int32_t* vector_of;
};

template <typename T>
__device__ inline void Unpack(const uint4& raw, float (&values)[kPerVector<T>]) {
  const T* typed = reinterpret_cast<const T*>(&raw);
#pragma unroll
  for (int k = 0; k < kPerVector<T>; ++k) values[k] = ToFp32(typed[k]);
}

// Hides the value from the compiler, which then unpacks it again instead of keeping it twice as
// large.
__device__ inline void Forget(uint4& raw) {
  asm volatile("" : "+r"(raw.x), "+r"(raw.y), "+r"(raw.z), "+r"(raw.w));
}

// One thread's part of one row: kVectors vectors, kLanes apart.
template <typename T, unsigned kParts, int kVectors, int kLanes>
struct PlainRow {
  static constexpr int kPer = kPerVector<T>;
  struct Beside {
    uint4 weight, bias, scale, shift, gate;
  };

  uint4 x[kVectors];
  uint4 residual[(kParts & kResidual) != 0 ? kVectors : 1];
  uint4 residual_gate[(kParts & kResidualGate) != 0 ? kVectors : 1];

  template <Reuse kReuse>
  __device__ static uint4 At(const PlainOperand& operand, int64_t outer, int64_t row, int vector) {
    const char* data = operand.data + outer * operand.outer + row * operand.inner;
    return Load16<kReuse>(reinterpret_cast<const uint4*>(data) + vector);
  }
  __device__ static void Store(const PlainOperand& operand, int64_t outer, int64_t row, int vector,
                               const float (&values)[kPer]) {
    char* data = operand.data + outer * operand.outer + row * operand.inner;
    StoreRow<T>(RowPointer{data, 1, false}, int64_t{vector} * kPer, values);
  }

  // The parts of a row's vectors.
  __device__ static PlainPlace VectorPlace(const PlainNormParams& p, int64_t outer, int64_t row) {
    if constexpr ((kParts & kVectorOf) != 0) {
      if (p.vector_of != nullptr) return {p.vector_of[outer * p.inner_rows + row], 0};
    }
    return {outer, row};
  }

  __device__ void Load(const PlainNormParams& p, int64_t outer, int64_t row, PlainPlace vectors,
                       int lane) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int vector = v * kLanes + lane;
      if (vector >= p.vectors) continue;
      x[v] = At<Reuse::kStreamed>(p.x, outer, row, vector);
      if constexpr ((kParts & kResidual) != 0) {
        residual[v] = At<Reuse::kStreamed>(p.residual, outer, row, vector);
      }
      if constexpr ((kParts & kResidualGate) != 0) {
        residual_gate[v] =
            At<Reuse::kCached>(p.residual_gate, vectors.outer, vectors.inner, vector);
      }
    }
  }
  __device__ static Beside LoadBeside(const PlainNormParams& p, PlainPlace place, int vector) {
    const auto& [outer, row] = place;
    Beside beside{};
    if (vector >= p.vectors) return beside;
    if constexpr ((kParts & kAffine) != 0)
      beside.weight = At<Reuse::kCached>(p.weight, 0, 0, vector);
    if constexpr ((kParts & kBias) != 0) beside.bias = At<Reuse::kCached>(p.bias, 0, 0, vector);
    if constexpr ((kParts & kModulation) != 0) {
      beside.scale = At<Reuse::kCached>(p.scale, outer, row, vector);
      beside.shift = At<Reuse::kCached>(p.shift, outer, row, vector);
    }
    if constexpr ((kParts & kOutputGate) != 0) {
      beside.gate = At<Reuse::kCached>(p.gate, outer, row, vector);
    }
    return beside;
  }

  // Computes x + residual * residual_gate of one vector.
  __device__ void Combined(int v, float (&values)[kPer]) const {
    Unpack<T>(x[v], values);
    if constexpr ((kParts & kResidual) != 0) {
      float added[kPer];
      Unpack<T>(residual[v], added);
      if constexpr ((kParts & kResidualGate) != 0) {
        float gate[kPer];
        Unpack<T>(residual_gate[v], gate);
#pragma unroll
        for (int k = 0; k < kPer; ++k) values[k] += added[k] * gate[k];
      } else {
#pragma unroll
        for (int k = 0; k < kPer; ++k) values[k] += added[k];
      }
    }
  }

  // Sums `term` over this thread's elements.
  template <typename Term>
  __device__ float Sum(int vectors, int lane, const Term& term) const {
    float sum = 0;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (v * kLanes + lane >= vectors) continue;
      float values[kPer];
      Combined(v, values);
#pragma unroll
      for (int k = 0; k < kPer; ++k) sum += term(values[k]);
    }
    return sum;
  }

  __device__ void ForgetAll() {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) Forget(x[v]);
  }

  __device__ void Emit(const PlainNormParams& p, int64_t outer, int64_t row, int vector, int v,
                       const Beside& beside, const RowStatistics& statistics) const {
    float values[kPer];
    Combined(v, values);
    if constexpr ((kParts & kSum) != 0) Store(p.sum, outer, row, vector, values);
    if constexpr ((kParts & kNormed) != 0) {
      Norm(beside, statistics, values);
      Store(p.out, outer, row, vector, values);
    }
  }

  __device__ static void Norm(const Beside& beside, const RowStatistics& statistics,
                              float (&values)[kPer]) {
#pragma unroll
    for (int k = 0; k < kPer; ++k) {
      values[k] = (values[k] - statistics.mean) * statistics.rstd;
    }
    float by[kPer];
    if constexpr ((kParts & kAffine) != 0) {
      Unpack<T>(beside.weight, by);
#pragma unroll
      for (int k = 0; k < kPer; ++k) {
        if constexpr ((kParts & kRoundedFirst) != 0) values[k] = ToFp32(FromFp32<T>(values[k]));
        values[k] *= by[k];
      }
    }
    if constexpr ((kParts & kBias) != 0) {
      Unpack<T>(beside.bias, by);
#pragma unroll
      for (int k = 0; k < kPer; ++k) values[k] += by[k];
    }
    if constexpr ((kParts & kModulation) != 0) {
      float shift[kPer];
      Unpack<T>(beside.scale, by);
      Unpack<T>(beside.shift, shift);
#pragma unroll
      for (int k = 0; k < kPer; ++k) values[k] = values[k] * (1.0f + by[k]) + shift[k];
    }
    if constexpr ((kParts & kOutputGate) != 0) {
      Unpack<T>(beside.gate, by);
#pragma unroll
      for (int k = 0; k < kPer; ++k) values[k] *= by[k];
    }
  }
};

}  // namespace reel::kernels
