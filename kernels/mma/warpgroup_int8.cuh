// SPDX-License-Identifier: Apache-2.0
// Products of int8 matrices by a warpgroup: a [64, 32] and b [columns, 32], sums in int32, which
// are exact. For .cu files of sm_90a.
//
// Sums are distributed over lanes as in warpgroup.cuh. Functions that take addresses read a and b
// from shared memory, in rows of 128 bytes in the copy engine's order (kSwizzledRow,
// tensor_copy.cuh). The one with a in registers has the layout of warpgroup.cuh.
#pragma once

#include <cstdint>

#include "kernels/mma/operand_lists.cuh"

namespace reel::kernels {

// Describes a or b, whose rows begin at `address`, a multiple of 1024; the next 32 bytes are at
// address + 32.
__device__ inline uint64_t SwizzledMatrix(uint32_t address) {
  constexpr uint64_t kEightRows = 1024 >> 4, kSwizzled128 = 1;
  return uint64_t{(address & 0x3ffff) >> 4} | uint64_t{1} << 16 | kEightRows << 32 |
         kSwizzled128 << 62;
}
inline constexpr uint64_t kNextInt8 = 32 >> 4;  // added to its result

// sums = a b, or sums += a b where `add`, of 64 and 128 columns and a in registers.
__device__ inline void MultiplyInt8(int32_t (&sums)[32], const uint32_t (&a)[4], uint64_t b,
                                    bool add) {
  REEL_WARPGROUP_PRODUCT(
      "r", "m64n64k32.s32.s8.s8 {" REEL_NUMBERS_32 "}, {%32, %33, %34, %35}, %36, p", REEL_SUMS_32);
}

__device__ inline void MultiplyInt8(int32_t (&sums)[64], const uint32_t (&a)[4], uint64_t b,
                                    bool add) {
  REEL_WARPGROUP_PRODUCT("r",
                         "m64n128k32.s32.s8.s8 {" REEL_NUMBERS_64 "}, {%64, %65, %66, %67}, %68, p",
                         REEL_SUMS_64);
}

// sums = a b, or sums += a b where `add`, of 64, 128, 192 and 256 columns.
__device__ inline void MultiplyInt8(int32_t (&sums)[32], uint64_t a, uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 "
      "{" REEL_NUMBERS_32 "}, %32, %33, p;\n}"
      : REEL_REGISTERS_32("+r", sums, 0)
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}
__device__ inline void MultiplyInt8(int32_t (&sums)[64], uint64_t a, uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8 "
      "{" REEL_NUMBERS_64 "}, %64, %65, p;\n}"
      : REEL_REGISTERS_64("+r", sums, 0)
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}
__device__ inline void MultiplyInt8(int32_t (&sums)[96], uint64_t a, uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %98, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n192k32.s32.s8.s8 "
      "{" REEL_NUMBERS_96 "}, %96, %97, p;\n}"
      : REEL_REGISTERS_64("+r", sums, 0), REEL_REGISTERS_32("+r", sums, 64)
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}
__device__ inline void MultiplyInt8(int32_t (&sums)[128], uint64_t a, uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 "
      "{" REEL_NUMBERS_128 "}, %128, %129, p;\n}"
      : REEL_REGISTERS_64("+r", sums, 0), REEL_REGISTERS_64("+r", sums, 64)
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}

}  // namespace reel::kernels
