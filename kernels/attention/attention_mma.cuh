// SPDX-License-Identifier: Apache-2.0
// The instructions of tensor cores and shared memory that cross_attention is made of. For .cu files
// of sm_80 and later.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

namespace reel::kernels {

// sum += a b of a warp, a [16, 16] and b [16, 8] of T. Lane 4 g + c has two neighbours in each
// word:
//   a     rows g, g + 8, g, g + 8 at columns 2 c, 2 c, 2 c + 8, 2 c + 8
//   b     column g at rows 2 c, 2 c + 8
//   sum   row g at columns 2 c, 2 c + 1, then row g + 8
template <typename T>
__device__ inline void Mma(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  if constexpr (std::is_same_v<T, __half>) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
}

// Four matrices of 8 rows of 16 bytes in shared memory, transposed; lane i gives row i % 8 of
// matrix i / 8. Word m then has, of matrix m, rows 2 c and 2 c + 1 at column g.
__device__ inline void LoadTransposed(uint32_t (&words)[4], const uint4* row) {
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(address));
}

// 16 bytes to shared memory on their way, zeros where they are not `there`; after AwaitCopies and a
// barrier they are in sight.
__device__ inline void CopyAsync16(uint4* to, const void* from, bool there) {
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(address), "l"(from), "r"(there ? 16 : 0)
               : "memory");
}
__device__ inline void AwaitCopies() { asm volatile("cp.async.wait_all;" : : : "memory"); }

// 2^x within 2 ulp; 0 below the normal numbers.
__device__ inline float Exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Two values in a word, `low` first in memory.
template <typename T>
__device__ inline uint32_t PackTwo(float low, float high) {
  if constexpr (std::is_same_v<T, __half>) {
    const __half2 two = __floats2half2_rn(low, high);
    return reinterpret_cast<const uint32_t&>(two);
  } else {
    const __nv_bfloat162 two = __floats2bfloat162_rn(low, high);
    return reinterpret_cast<const uint32_t&>(two);
  }
}

}  // namespace reel::kernels
