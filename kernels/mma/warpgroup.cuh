// SPDX-License-Identifier: Apache-2.0
// Products of e4m3 matrices by a warpgroup, four warps side by side: a [64, 32] from registers, b
// from shared memory. For .cu files of sm_90a.
//
// Lane 4 g + c of warp w is named by g, 0 to 7, and c, 0 to 3. It has of
//   a        rows 16 w + g, + 8, then the same rows, at columns 4 c to 4 c + 3, the last two words
//            at columns 16 + 4 c to 16 + 4 c + 3
//   sums     for every 8 columns j rows 16 w + g at columns 8 j + 2 c, + 1, then row 16 w + g + 8
// b is [columns, 32] in matrices of 8 columns by 16 bytes, 128 contiguous bytes each. Matrices of
// neighbouring columns are contiguous; those of the next 16 bytes follow after `step` bytes.
#pragma once

#include <cstdint>

#include "kernels/mma/operand_lists.cuh"

namespace reel::kernels {

inline constexpr int kMatrixBytes = 128;  // 8 columns of 16 bytes

// What the products below need to know of b: its address in shared memory.
__device__ inline uint64_t WarpgroupMatrix(uint32_t address, uint32_t step) {
  return uint64_t{(address & 0x3ffff) >> 4} | uint64_t{step >> 4} << 16 |
         uint64_t{kMatrixBytes >> 4} << 32;
}

// Call before the first product of a group, and after changing registers of one.
__device__ inline void BeginProducts() { asm volatile("wgmma.fence.sync.aligned;" : : : "memory"); }
// Closes a group of products.
__device__ inline void CommitProducts() {
  asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}
// Waits for all groups but the latest kGroups.
template <int kGroups>
__device__ inline void AwaitProductGroups() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(kGroups) : "memory");
}
// Waits for all products so far.
__device__ inline void AwaitProducts() {
  CommitProducts();
  AwaitProductGroups<0>();
}

// sums = a b, or sums += a b if `add`; 128 columns in fp16, two to a word.
__device__ inline void MultiplyTo128(uint32_t (&sums)[32], const uint32_t (&a)[4], uint64_t b,
                                     bool add) {
  REEL_WARPGROUP_PRODUCT(
      "r", "m64n128k32.f16.e4m3.e4m3 {" REEL_NUMBERS_32 "}, {%32, %33, %34, %35}, %36, p, 1, 1",
      REEL_SUMS_32);
}

// The same for 72 columns in fp32. Sums keep only about 14 bits here: make a long sum from short
// ones.
__device__ inline void MultiplyTo72(float (&sums)[36], const uint32_t* a, uint64_t b, bool add) {
  REEL_WARPGROUP_PRODUCT(
      "f", "m64n72k32.f32.e4m3.e4m3 {" REEL_NUMBERS_36 "}, {%36, %37, %38, %39}, %40, p, 1, 1",
      REEL_SUMS_36);
}

// The same for 64 columns: the first 32 sums.
__device__ inline void MultiplyTo64(float (&sums)[36], const uint32_t* a, uint64_t b, bool add) {
  REEL_WARPGROUP_PRODUCT(
      "f", "m64n64k32.f32.e4m3.e4m3 {" REEL_NUMBERS_32 "}, {%32, %33, %34, %35}, %36, p, 1, 1",
      REEL_SUMS_32);
}

// Changes the registers of a thread to `kCount`, from the 65,536 / threads of its block.
// Called by all warps of a warpgroup.
template <int kCount>
__device__ inline void GiveRegisters() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(kCount));
}
template <int kCount>
__device__ inline void TakeRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(kCount));
}

}  // namespace reel::kernels
