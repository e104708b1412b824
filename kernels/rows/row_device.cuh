// SPDX-License-Identifier: Apache-2.0
// Device side of rows: operands to fp32 and back, and deterministic sums. For .cu files.
//
// Elements are handled kCount at a time: 1 for any strides, or the 16 bytes of a vector, in which
// case rows are aligned and their elements lie side by side (FitsVectorRows).
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "kernels/rows/row_layout.h"

namespace reel::kernels {

// One operand at one row.
struct RowPointer {
  char* data;  // null: absent
  int64_t inner;
  bool fp32;  // beside rows of a 16-bit type
};

__device__ inline RowPointer PointAt(const RowShape& shape, const RowOperand& operand,
                                     int64_t row) {
  const bool fp32 = operand.dtype == Dtype::kF32;
  if (operand.data == nullptr) return {nullptr, 0, fp32};
  const int64_t bytes = RowOffset(shape, operand, row) * (fp32 ? 4 : 2);
  return {static_cast<char*>(operand.data) + bytes, operand.inner, fp32};
}

__device__ inline float ToFp32(float value) { return value; }
__device__ inline float ToFp32(__half value) { return __half2float(value); }
__device__ inline float ToFp32(__nv_bfloat16 value) { return __bfloat162float(value); }

template <typename T>
__device__ T FromFp32(float value);
template <>
__device__ inline float FromFp32<float>(float value) {
  return value;
}
template <>
__device__ inline __half FromFp32<__half>(float value) {
  return __float2half_rn(value);
}
template <>
__device__ inline __nv_bfloat16 FromFp32<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}

template <typename T>
inline constexpr int kPerVector = 16 / sizeof(T);

// kCount values of type T from `data`, in loads of 16 bytes where there are several.
template <typename T, int kCount>
__device__ inline void LoadRun(const T* data, float (&values)[kCount]) {
  if constexpr (kCount == 1) {
    values[0] = ToFp32(*data);
  } else {
    constexpr int kPer = kPerVector<T>;
    static_assert(kCount % kPer == 0);
#pragma unroll
    for (int v = 0; v < kCount / kPer; ++v) {
      const uint4 raw = reinterpret_cast<const uint4*>(data)[v];
      const T* typed = reinterpret_cast<const T*>(&raw);
#pragma unroll
      for (int i = 0; i < kPer; ++i) values[v * kPer + i] = ToFp32(typed[i]);
    }
  }
}

// An operand of the rows' own type.
template <typename T, int kCount>
__device__ inline void LoadRow(const RowPointer& row, int64_t i, float (&values)[kCount]) {
  const T* data = reinterpret_cast<const T*>(row.data);
  LoadRun<T>(kCount == 1 ? data + i * row.inner : data + i, values);
}

// A vector beside the rows: their type or fp32; `absent` where there is none.
template <typename T, int kCount>
__device__ inline void LoadVector(const RowPointer& row, int64_t i, float absent,
                                  float (&values)[kCount]) {
  if (row.data == nullptr) {
#pragma unroll
    for (int k = 0; k < kCount; ++k) values[k] = absent;
  } else if (row.fp32) {
    LoadRow<float>(row, i, values);
  } else {
    LoadRow<T>(row, i, values);
  }
}

template <typename T, int kCount>
__device__ inline void StoreRow(const RowPointer& row, int64_t i, const float (&values)[kCount]) {
  T* data = reinterpret_cast<T*>(row.data);
  if constexpr (kCount == 1) {
    data[i * row.inner] = FromFp32<T>(values[0]);
  } else {
    static_assert(kCount == kPerVector<T>);
    uint4 raw;
    T* typed = reinterpret_cast<T*>(&raw);
#pragma unroll
    for (int k = 0; k < kCount; ++k) typed[k] = FromFp32<T>(values[k]);
    *reinterpret_cast<uint4*>(data + i) = raw;
  }
}

__device__ inline float WarpSum(float value) {
#pragma unroll
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(0xffffffffu, value, lane);
  return value;
}

// The sum over kWarps warps that stand side by side in a block; every thread gets it. `scratch` has
// kWarps floats for each such group. All threads of the block must call it.
template <int kWarps>
__device__ inline float GroupSum(float value, float* scratch) {
  value = WarpSum(value);
  if constexpr (kWarps > 1) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    __syncthreads();  // the scratch of the call before has been read
    if (threadIdx.x % 32 == 0) scratch[warp] = value;
    __syncthreads();
    const int first = warp / kWarps * kWarps;
    value = 0;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) value += scratch[first + w];
  }
  return value;
}

}  // namespace reel::kernels
