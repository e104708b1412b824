// SPDX-License-Identifier: Apache-2.0
// Products of int8 matrices by a warpgroup: a [64, 32] and b [columns, 32], sums in int32, which
// are exact. For .cu files of sm_90a.
//
// A lane has of the sums what warpgroup.cuh says. Those that are given addresses have a and b in
// shared memory, in rows of 128 bytes, in the order of the copy engine (kSwizzledRow,
// tensor_copy.cuh); the one with a in registers has them as those of warpgroup.cuh do.
#pragma once

#include <cstdint>

namespace reel::kernels {

// What the products are told of a or b, whose rows begin at `address`, a multiple of 1024; the next
// 32 of its bytes are at the address and 32.
__device__ inline uint64_t SwizzledMatrix(uint32_t address) {
  constexpr uint64_t kEightRows = 1024 >> 4, kSwizzled128 = 1;
  return uint64_t{(address & 0x3ffff) >> 4} | uint64_t{1} << 16 | kEightRows << 32 |
         kSwizzled128 << 62;
}
inline constexpr uint64_t kNextInt8 = 32 >> 4;  // added to what it gives

// sums = a b, or sums += a b where `add`, of 64 columns and a in registers.
__device__ inline void MultiplyInt8(int32_t (&sums)[32], const uint32_t (&a)[4], uint64_t b,
                                    bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
      "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, p;\n}"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3]), "+r"(sums[4]), "+r"(sums[5]),
        "+r"(sums[6]), "+r"(sums[7]), "+r"(sums[8]), "+r"(sums[9]), "+r"(sums[10]), "+r"(sums[11]),
        "+r"(sums[12]), "+r"(sums[13]), "+r"(sums[14]), "+r"(sums[15]), "+r"(sums[16]),
        "+r"(sums[17]), "+r"(sums[18]), "+r"(sums[19]), "+r"(sums[20]), "+r"(sums[21]),
        "+r"(sums[22]), "+r"(sums[23]), "+r"(sums[24]), "+r"(sums[25]), "+r"(sums[26]),
        "+r"(sums[27]), "+r"(sums[28]), "+r"(sums[29]), "+r"(sums[30]), "+r"(sums[31])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add)));
}

// sums = a b, or sums += a b where `add`, of 64, 128, 192 and 256 columns.
__device__ inline void MultiplyInt8(int32_t (&sums)[32], uint64_t a, uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
      "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, p;\n}"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3]), "+r"(sums[4]), "+r"(sums[5]),
        "+r"(sums[6]), "+r"(sums[7]), "+r"(sums[8]), "+r"(sums[9]), "+r"(sums[10]), "+r"(sums[11]),
        "+r"(sums[12]), "+r"(sums[13]), "+r"(sums[14]), "+r"(sums[15]), "+r"(sums[16]),
        "+r"(sums[17]), "+r"(sums[18]), "+r"(sums[19]), "+r"(sums[20]), "+r"(sums[21]),
        "+r"(sums[22]), "+r"(sums[23]), "+r"(sums[24]), "+r"(sums[25]), "+r"(sums[26]),
        "+r"(sums[27]), "+r"(sums[28]), "+r"(sums[29]), "+r"(sums[30]), "+r"(sums[31])
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}

__device__ inline void MultiplyInt8(int32_t (&sums)[64], uint64_t a, uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, "
      "%17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, "
      "%47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "
      "%62, %63}, "
      "%64, %65, p;\n}"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3]), "+r"(sums[4]), "+r"(sums[5]),
        "+r"(sums[6]), "+r"(sums[7]), "+r"(sums[8]), "+r"(sums[9]), "+r"(sums[10]), "+r"(sums[11]),
        "+r"(sums[12]), "+r"(sums[13]), "+r"(sums[14]), "+r"(sums[15]), "+r"(sums[16]),
        "+r"(sums[17]), "+r"(sums[18]), "+r"(sums[19]), "+r"(sums[20]), "+r"(sums[21]),
        "+r"(sums[22]), "+r"(sums[23]), "+r"(sums[24]), "+r"(sums[25]), "+r"(sums[26]),
        "+r"(sums[27]), "+r"(sums[28]), "+r"(sums[29]), "+r"(sums[30]), "+r"(sums[31]),
        "+r"(sums[32]), "+r"(sums[33]), "+r"(sums[34]), "+r"(sums[35]), "+r"(sums[36]),
        "+r"(sums[37]), "+r"(sums[38]), "+r"(sums[39]), "+r"(sums[40]), "+r"(sums[41]),
        "+r"(sums[42]), "+r"(sums[43]), "+r"(sums[44]), "+r"(sums[45]), "+r"(sums[46]),
        "+r"(sums[47]), "+r"(sums[48]), "+r"(sums[49]), "+r"(sums[50]), "+r"(sums[51]),
        "+r"(sums[52]), "+r"(sums[53]), "+r"(sums[54]), "+r"(sums[55]), "+r"(sums[56]),
        "+r"(sums[57]), "+r"(sums[58]), "+r"(sums[59]), "+r"(sums[60]), "+r"(sums[61]),
        "+r"(sums[62]), "+r"(sums[63])
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}

__device__ inline void MultiplyInt8(int32_t (&sums)[96], uint64_t a, uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %98, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n192k32.s32.s8.s8 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, "
      "%17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, "
      "%47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "
      "%62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, "
      "%77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, "
      "%92, %93, %94, %95}, "
      "%96, %97, p;\n}"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3]), "+r"(sums[4]), "+r"(sums[5]),
        "+r"(sums[6]), "+r"(sums[7]), "+r"(sums[8]), "+r"(sums[9]), "+r"(sums[10]), "+r"(sums[11]),
        "+r"(sums[12]), "+r"(sums[13]), "+r"(sums[14]), "+r"(sums[15]), "+r"(sums[16]),
        "+r"(sums[17]), "+r"(sums[18]), "+r"(sums[19]), "+r"(sums[20]), "+r"(sums[21]),
        "+r"(sums[22]), "+r"(sums[23]), "+r"(sums[24]), "+r"(sums[25]), "+r"(sums[26]),
        "+r"(sums[27]), "+r"(sums[28]), "+r"(sums[29]), "+r"(sums[30]), "+r"(sums[31]),
        "+r"(sums[32]), "+r"(sums[33]), "+r"(sums[34]), "+r"(sums[35]), "+r"(sums[36]),
        "+r"(sums[37]), "+r"(sums[38]), "+r"(sums[39]), "+r"(sums[40]), "+r"(sums[41]),
        "+r"(sums[42]), "+r"(sums[43]), "+r"(sums[44]), "+r"(sums[45]), "+r"(sums[46]),
        "+r"(sums[47]), "+r"(sums[48]), "+r"(sums[49]), "+r"(sums[50]), "+r"(sums[51]),
        "+r"(sums[52]), "+r"(sums[53]), "+r"(sums[54]), "+r"(sums[55]), "+r"(sums[56]),
        "+r"(sums[57]), "+r"(sums[58]), "+r"(sums[59]), "+r"(sums[60]), "+r"(sums[61]),
        "+r"(sums[62]), "+r"(sums[63]), "+r"(sums[64]), "+r"(sums[65]), "+r"(sums[66]),
        "+r"(sums[67]), "+r"(sums[68]), "+r"(sums[69]), "+r"(sums[70]), "+r"(sums[71]),
        "+r"(sums[72]), "+r"(sums[73]), "+r"(sums[74]), "+r"(sums[75]), "+r"(sums[76]),
        "+r"(sums[77]), "+r"(sums[78]), "+r"(sums[79]), "+r"(sums[80]), "+r"(sums[81]),
        "+r"(sums[82]), "+r"(sums[83]), "+r"(sums[84]), "+r"(sums[85]), "+r"(sums[86]),
        "+r"(sums[87]), "+r"(sums[88]), "+r"(sums[89]), "+r"(sums[90]), "+r"(sums[91]),
        "+r"(sums[92]), "+r"(sums[93]), "+r"(sums[94]), "+r"(sums[95])
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}

__device__ inline void MultiplyInt8(int32_t (&sums)[128], uint64_t a, uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, "
      "%17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, "
      "%47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "
      "%62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, "
      "%77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, "
      "%92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, "
      "%106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, "
      "%119, %120, %121, %122, %123, %124, %125, %126, %127}, "
      "%128, %129, p;\n}"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3]), "+r"(sums[4]), "+r"(sums[5]),
        "+r"(sums[6]), "+r"(sums[7]), "+r"(sums[8]), "+r"(sums[9]), "+r"(sums[10]), "+r"(sums[11]),
        "+r"(sums[12]), "+r"(sums[13]), "+r"(sums[14]), "+r"(sums[15]), "+r"(sums[16]),
        "+r"(sums[17]), "+r"(sums[18]), "+r"(sums[19]), "+r"(sums[20]), "+r"(sums[21]),
        "+r"(sums[22]), "+r"(sums[23]), "+r"(sums[24]), "+r"(sums[25]), "+r"(sums[26]),
        "+r"(sums[27]), "+r"(sums[28]), "+r"(sums[29]), "+r"(sums[30]), "+r"(sums[31]),
        "+r"(sums[32]), "+r"(sums[33]), "+r"(sums[34]), "+r"(sums[35]), "+r"(sums[36]),
        "+r"(sums[37]), "+r"(sums[38]), "+r"(sums[39]), "+r"(sums[40]), "+r"(sums[41]),
        "+r"(sums[42]), "+r"(sums[43]), "+r"(sums[44]), "+r"(sums[45]), "+r"(sums[46]),
        "+r"(sums[47]), "+r"(sums[48]), "+r"(sums[49]), "+r"(sums[50]), "+r"(sums[51]),
        "+r"(sums[52]), "+r"(sums[53]), "+r"(sums[54]), "+r"(sums[55]), "+r"(sums[56]),
        "+r"(sums[57]), "+r"(sums[58]), "+r"(sums[59]), "+r"(sums[60]), "+r"(sums[61]),
        "+r"(sums[62]), "+r"(sums[63]), "+r"(sums[64]), "+r"(sums[65]), "+r"(sums[66]),
        "+r"(sums[67]), "+r"(sums[68]), "+r"(sums[69]), "+r"(sums[70]), "+r"(sums[71]),
        "+r"(sums[72]), "+r"(sums[73]), "+r"(sums[74]), "+r"(sums[75]), "+r"(sums[76]),
        "+r"(sums[77]), "+r"(sums[78]), "+r"(sums[79]), "+r"(sums[80]), "+r"(sums[81]),
        "+r"(sums[82]), "+r"(sums[83]), "+r"(sums[84]), "+r"(sums[85]), "+r"(sums[86]),
        "+r"(sums[87]), "+r"(sums[88]), "+r"(sums[89]), "+r"(sums[90]), "+r"(sums[91]),
        "+r"(sums[92]), "+r"(sums[93]), "+r"(sums[94]), "+r"(sums[95]), "+r"(sums[96]),
        "+r"(sums[97]), "+r"(sums[98]), "+r"(sums[99]), "+r"(sums[100]), "+r"(sums[101]),
        "+r"(sums[102]), "+r"(sums[103]), "+r"(sums[104]), "+r"(sums[105]), "+r"(sums[106]),
        "+r"(sums[107]), "+r"(sums[108]), "+r"(sums[109]), "+r"(sums[110]), "+r"(sums[111]),
        "+r"(sums[112]), "+r"(sums[113]), "+r"(sums[114]), "+r"(sums[115]), "+r"(sums[116]),
        "+r"(sums[117]), "+r"(sums[118]), "+r"(sums[119]), "+r"(sums[120]), "+r"(sums[121]),
        "+r"(sums[122]), "+r"(sums[123]), "+r"(sums[124]), "+r"(sums[125]), "+r"(sums[126]),
        "+r"(sums[127])
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}

}  // namespace reel::kernels
