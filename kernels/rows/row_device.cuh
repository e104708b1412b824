// SPDX-License-Identifier: Apache-2.0
// Device code for rows: addresses, operands to fp32 and back, deterministic sums. For .cu files.
//
// Elements are handled kCount at a time: 1 for any strides, or the 16 bytes of a vector, in which
// case rows are aligned and contiguous (FitsVectorRows).
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/rows/row_layout.h"

namespace reel::kernels {

// On the host: calls `body`, which launches and returns a cudaError_t, with a value of the device's
// type for `dtype`, one of the three that operators compute in.
template <typename Body>
int32_t WithDeviceType(Dtype dtype, Body&& body) {
  switch (dtype) {
    case Dtype::kF16:
      return body(__half{});
    case Dtype::kBf16:
      return body(__nv_bfloat16{});
    case Dtype::kF32:
      return body(0.0f);
    default:
      return cudaErrorInvalidValue;
  }
}

// a / b for numbers that are not negative; both almost always fit 32 bits, which is far cheaper.
__device__ inline int64_t Quotient(int64_t a, int64_t b) {
  if (((a | b) >> 32) == 0) return static_cast<uint32_t>(a) / static_cast<uint32_t>(b);
  return a / b;
}

// The leading coordinates of a row, once for all operands; 0 beyond the shape's dims.
struct RowPlace {
  int64_t at[kMaxRowDims];
};

__device__ inline RowPlace PlaceOf(const RowShape& shape, int64_t row) {
  RowPlace place{};
  if (shape.dims > 1) {
#pragma unroll
    for (int d = kMaxRowDims - 1; d > 0; --d) {
      if (d >= shape.dims) continue;
      const int64_t quotient = Quotient(row, shape.sizes[d]);
      place.at[d] = row - quotient * shape.sizes[d];
      row = quotient;
    }
  }
  place.at[0] = row;
  return place;
}

// Elements from the operand's data to its row.
__device__ inline int64_t OffsetAt(const RowShape& shape, const RowOperand& operand,
                                   const RowPlace& place) {
  int64_t offset = place.at[0] * operand.strides[0] + place.at[1] * operand.strides[1];
  if (shape.dims > 2) {
#pragma unroll
    for (int d = 2; d < kMaxRowDims; ++d) offset += place.at[d] * operand.strides[d];
  }
  return offset;
}

// One operand at one row.
struct RowPointer {
  char* data;  // null: absent
  int64_t inner;
  bool fp32;  // beside rows of a 16-bit type
};

__device__ inline RowPointer PointAt(const RowShape& shape, const RowOperand& operand,
                                     const RowPlace& place) {
  const bool fp32 = operand.dtype == Dtype::kF32;
  if (operand.data == nullptr) return {nullptr, 0, fp32};
  const int64_t bytes = OffsetAt(shape, operand, place) * (fp32 ? 4 : 2);
  return {static_cast<char*>(operand.data) + bytes, operand.inner, fp32};
}

// A vector over the width alone, the same for all rows.
__device__ inline RowPointer PointAtVector(const RowOperand& operand) {
  return {static_cast<char*>(operand.data), operand.inner, operand.dtype == Dtype::kF32};
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

enum class Reuse {
  kCached,    // other rows read the same data
  kStreamed,  // read once: evicted first from the first cache
};

template <Reuse kReuse>
__device__ inline uint4 Load16(const uint4* data) {
  if constexpr (kReuse == Reuse::kCached) return *data;
  uint4 raw;
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(raw.x), "=r"(raw.y), "=r"(raw.z), "=r"(raw.w)
               : "l"(data));
  return raw;
}

// Loads kCount values of type T from `data`, 16 bytes at a time if there are several.
template <typename T, Reuse kReuse = Reuse::kCached, int kCount>
__device__ inline void LoadRun(const T* data, float (&values)[kCount]) {
  if constexpr (kCount == 1) {
    values[0] = ToFp32(*data);
  } else {
    constexpr int kPer = kPerVector<T>;
    static_assert(kCount % kPer == 0);
#pragma unroll
    for (int v = 0; v < kCount / kPer; ++v) {
      const uint4 raw = Load16<kReuse>(reinterpret_cast<const uint4*>(data) + v);
      const T* typed = reinterpret_cast<const T*>(&raw);
#pragma unroll
      for (int i = 0; i < kPer; ++i) values[v * kPer + i] = ToFp32(typed[i]);
    }
  }
}

// An operand of the rows' own type.
template <typename T, Reuse kReuse = Reuse::kStreamed, int kCount>
__device__ inline void LoadRow(const RowPointer& row, int64_t i, float (&values)[kCount]) {
  const T* data = reinterpret_cast<const T*>(row.data);
  LoadRun<T, kReuse>(kCount == 1 ? data + i * row.inner : data + i, values);
}

// A vector beside the rows, in their type or fp32; `absent` if there is none.
template <typename T, int kCount>
__device__ inline void LoadVector(const RowPointer& row, int64_t i, float absent,
                                  float (&values)[kCount]) {
  if (row.data == nullptr) {
#pragma unroll
    for (int k = 0; k < kCount; ++k) values[k] = absent;
  } else if (row.fp32) {
    LoadRow<float, Reuse::kCached>(row, i, values);
  } else {
    LoadRow<T, Reuse::kCached>(row, i, values);
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

// x / (1 + exp(-z)), within a few ulp over the whole range: -0 for -1e4, NaN for -infinity. Both
// factors carry a 4, so that a large exponential does not make the reciprocal subnormal, which
// these instructions flush to 0.
__device__ inline float TimesSigmoid(float x, float z) {
  float exponential;
  float reciprocal;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(exponential) : "f"(z * -1.44269504f));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(0.25f * exponential + 0.25f));
  return 0.25f * x * reciprocal;
}
__device__ inline float GeluTanh(float x) {
  return TimesSigmoid(x, 1.59576912f * (x + 0.044715f * x * x * x));
}

// Reduces with `combine` over kLanes neighbouring threads of a block, a power of 2 up to a warp, or
// whole warps; every thread gets the results. Up to a warp no `scratch` is needed. For more, all
// threads of the block must call it, and `scratch`, kCount values for every warp of the block, must
// not have been used since the last barrier.
template <int kLanes, typename Value, int kCount, typename Combine>
__device__ inline void CombineGroup(Value (&values)[kCount], Value* scratch, Value identity,
                                    const Combine& combine) {
#pragma unroll
  for (int lane = (kLanes < 32 ? kLanes : 32) / 2; lane > 0; lane /= 2) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      values[i] = combine(values[i], __shfl_xor_sync(0xffffffffu, values[i], lane));
    }
  }
  if constexpr (kLanes > 32) {
    constexpr int kWarps = kLanes / 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int first = warp / kWarps * kWarps;
    if (threadIdx.x % 32 == 0) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        scratch[first * kCount + i * kWarps + warp - first] = values[i];
      }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      values[i] = identity;
#pragma unroll
      for (int w = 0; w < kWarps; ++w) {
        values[i] = combine(values[i], scratch[first * kCount + i * kWarps + w]);
      }
    }
  }
}

template <int kLanes, int kCount>
__device__ inline void GroupSums(float (&values)[kCount], float* scratch) {
  CombineGroup<kLanes>(values, scratch, 0.0f, [](float a, float b) { return a + b; });
}
template <int kLanes>
__device__ inline float GroupSum(float value, float* scratch) {
  float values[1] = {value};
  GroupSums<kLanes>(values, scratch);
  return values[0];
}

}  // namespace reel::kernels
