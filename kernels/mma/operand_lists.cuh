// SPDX-License-Identifier: Apache-2.0
// Long lists of operands for asm statements: numbers from 0 on for the text, registers for the
// outputs. A loop cannot make these. And the asm statement of a product by a warpgroup.
#pragma once

#define REEL_NUMBERS_32                                                                   \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, " \
  "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define REEL_NUMBERS_36 \
  REEL_NUMBERS_32       \
  ", %32, %33, %34, %35"
#define REEL_NUMBERS_64                                                                     \
  REEL_NUMBERS_32                                                                           \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, " \
  "%49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define REEL_NUMBERS_96                                                                     \
  REEL_NUMBERS_64                                                                           \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, " \
  "%81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define REEL_NUMBERS_128                                                                     \
  REEL_NUMBERS_96                                                                            \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, " \
  "%111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, "     \
  "%125, %126, %127"

// `how` is "+r" or "+f", `x` an array of which those from `i` on are named.
#define REEL_REGISTERS_4(how, x, i) \
  how((x)[i]), how((x)[(i) + 1]), how((x)[(i) + 2]), how((x)[(i) + 3])
#define REEL_REGISTERS_16(how, x, i)                              \
  REEL_REGISTERS_4(how, x, i), REEL_REGISTERS_4(how, x, (i) + 4), \
      REEL_REGISTERS_4(how, x, (i) + 8), REEL_REGISTERS_4(how, x, (i) + 12)
#define REEL_REGISTERS_32(how, x, i) \
  REEL_REGISTERS_16(how, x, i), REEL_REGISTERS_16(how, x, (i) + 16)
#define REEL_REGISTERS_64(how, x, i) \
  REEL_REGISTERS_32(how, x, i), REEL_REGISTERS_32(how, x, (i) + 32)

// Lists for the array `sums`.
#define REEL_SUMS_32(how) REEL_REGISTERS_32(how, sums, 0)
#define REEL_SUMS_36(how) REEL_REGISTERS_32(how, sums, 0), REEL_REGISTERS_4(how, sums, 32)
#define REEL_SUMS_64(how) REEL_REGISTERS_64(how, sums, 0)

// sums = a b, or sums += a b if `add`, with a in four registers and b in shared memory, all named
// so. `text` is the instruction behind its common part, `list` one of the three above. The first
// product of a sum only writes it, so that its registers are free before.
#define REEL_WARPGROUP_PRODUCT(kind, text, list)      \
  do {                                                \
    if (add) {                                        \
      REEL_WARPGROUP_STEP("+" kind, "1", text, list); \
    } else {                                          \
      REEL_WARPGROUP_STEP("=" kind, "0", text, list); \
    }                                                 \
  } while (false)
#define REEL_WARPGROUP_STEP(how, adds, text, list)                                                 \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " adds ", 0;\nwgmma.mma_async.sync.aligned." text \
               ";\n}"                                                                              \
               : list(how)                                                                         \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b))
