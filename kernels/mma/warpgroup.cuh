// SPDX-License-Identifier: Apache-2.0
// Products of e4m3 matrices by a warpgroup, four warps side by side: a [64, 32] from registers, b
// from shared memory. For .cu files of sm_90a.
//
// Lane 4 g + c of warp w is named by g, 0 to 7, and c, 0 to 3. It has of
//   a        rows 16 w + g, + 8, then the same rows, at columns 4 c to 4 c + 3, the last two words
//            at columns 16 + 4 c to 16 + 4 c + 3
//   sums     for every 8 columns j rows 16 w + g at columns 8 j + 2 c, + 1, then row 16 w + g + 8
// b is [columns, 32] in matrices of 8 columns by 16 bytes, each of 128 bytes in a row: those of
// neighbouring columns lie side by side, those of the next 16 bytes `step` behind.
#pragma once

#include <cstdint>

namespace reel::kernels {

inline constexpr int kMatrixBytes = 128;  // 8 columns of 16 bytes

// What the products below are told of b: where it lies in shared memory.
__device__ inline uint64_t WarpgroupMatrix(uint32_t address, uint32_t step) {
  return uint64_t{(address & 0x3ffff) >> 4} | uint64_t{step >> 4} << 16 |
         uint64_t{kMatrixBytes >> 4} << 32;
}

// Before the first product of a group, and where registers of one have been touched since.
__device__ inline void BeginProducts() { asm volatile("wgmma.fence.sync.aligned;" : : : "memory"); }
// Closes a group of products.
__device__ inline void CommitProducts() {
  asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}
// Until all groups are there but the latest kGroups.
template <int kGroups>
__device__ inline void AwaitProductGroups() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(kGroups) : "memory");
}
// Until all products so far are there.
__device__ inline void AwaitProducts() {
  CommitProducts();
  AwaitProductGroups<0>();
}

// sums = a b, or sums += a b where `add`; 128 columns in fp16, two to a word.
__device__ inline void MultiplyTo128(uint32_t (&sums)[32], const uint32_t (&a)[4], uint64_t b,
                                     bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k32.f16.e4m3.e4m3 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
      "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, p, 1, 1;\n}"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3]), "+r"(sums[4]), "+r"(sums[5]),
        "+r"(sums[6]), "+r"(sums[7]), "+r"(sums[8]), "+r"(sums[9]), "+r"(sums[10]), "+r"(sums[11]),
        "+r"(sums[12]), "+r"(sums[13]), "+r"(sums[14]), "+r"(sums[15]), "+r"(sums[16]),
        "+r"(sums[17]), "+r"(sums[18]), "+r"(sums[19]), "+r"(sums[20]), "+r"(sums[21]),
        "+r"(sums[22]), "+r"(sums[23]), "+r"(sums[24]), "+r"(sums[25]), "+r"(sums[26]),
        "+r"(sums[27]), "+r"(sums[28]), "+r"(sums[29]), "+r"(sums[30]), "+r"(sums[31])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add)));
}

// The same for 72 columns in fp32. Sums of many products lose bits here, about 14 are kept: a long
// sum is made of short ones.
__device__ inline void MultiplyTo72(float (&sums)[36], const uint32_t* a, uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %41, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n72k32.f32.e4m3.e4m3 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
      "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35}, "
      "{%36, %37, %38, %39}, %40, p, 1, 1;\n}"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3]), "+f"(sums[4]), "+f"(sums[5]),
        "+f"(sums[6]), "+f"(sums[7]), "+f"(sums[8]), "+f"(sums[9]), "+f"(sums[10]), "+f"(sums[11]),
        "+f"(sums[12]), "+f"(sums[13]), "+f"(sums[14]), "+f"(sums[15]), "+f"(sums[16]),
        "+f"(sums[17]), "+f"(sums[18]), "+f"(sums[19]), "+f"(sums[20]), "+f"(sums[21]),
        "+f"(sums[22]), "+f"(sums[23]), "+f"(sums[24]), "+f"(sums[25]), "+f"(sums[26]),
        "+f"(sums[27]), "+f"(sums[28]), "+f"(sums[29]), "+f"(sums[30]), "+f"(sums[31]),
        "+f"(sums[32]), "+f"(sums[33]), "+f"(sums[34]), "+f"(sums[35])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add)));
}

// From 128 registers a thread, with which a block of 512 begins, to `kCount`: all warps of a
// warpgroup.
template <int kCount>
__device__ inline void GiveRegisters() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(kCount));
}
template <int kCount>
__device__ inline void TakeRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(kCount));
}

}  // namespace reel::kernels
