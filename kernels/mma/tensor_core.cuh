// SPDX-License-Identifier: Apache-2.0
// Products of small matrices on tensor cores, a warp at a time. For .cu files of sm_80 and later.
//
// Lane 4 g + c is named by g, 0 to 7, and c, 0 to 3; a word has two neighbours of T, the lower one
// first in memory.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

namespace reel::kernels {

// sum += a b, a [16, 16] and b [16, 8] of T. A lane has of
//   a     rows g, g + 8, g, g + 8 at columns 2 c, 2 c, 2 c + 8, 2 c + 8
//   b     column g at rows 2 c, 2 c + 8
//   sum   row g at columns 2 c, 2 c + 1, then row g + 8
template <typename T>
__device__ inline void MultiplyAdd(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0,
                                   uint32_t b1) {
  if constexpr (std::is_same_v<T, __half>) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    static_assert(std::is_same_v<T, __nv_bfloat16>);
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
}

// Two values in a word.
template <typename T>
__device__ inline uint32_t PackTwo(float low, float high) {
  if constexpr (std::is_same_v<T, __half>) {
    const __half2 two = __floats2half2_rn(low, high);
    return reinterpret_cast<const uint32_t&>(two);
  } else {
    static_assert(std::is_same_v<T, __nv_bfloat16>);
    const __nv_bfloat162 two = __floats2bfloat162_rn(low, high);
    return reinterpret_cast<const uint32_t&>(two);
  }
}
template <typename T>
__device__ inline float2 UnpackTwo(uint32_t word) {
  if constexpr (std::is_same_v<T, __half>) {
    return __half22float2(reinterpret_cast<const __half2&>(word));
  } else {
    static_assert(std::is_same_v<T, __nv_bfloat16>);
    return __bfloat1622float2(reinterpret_cast<const __nv_bfloat162&>(word));
  }
}

}  // namespace reel::kernels
