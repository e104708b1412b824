// SPDX-License-Identifier: Apache-2.0
// e4m3 by the definition of the format, and what an output of it must be.
#pragma once

#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {

inline constexpr int kE4m3NanCode = 0x7F;
inline constexpr int kE4m3LargestCode = 0x7E;

// The nearest of all finite codes, an even one where two are as near; NaN where value is not
// finite.
int NearestE4m3(double value);

// The value of a code; of the NaN one a NaN.
double ValueOfE4m3(int code);

// How many codes lie between two; 0 and -0 are the same here.
int E4m3Distance(int a, int b);

// Checks an output in e4m3 (Expected::scale or fixed_scale), except for the sign of zeros. With the
// scale that was written, every code must be the nearest to some value within the operator's bound
// (`c` as in Bound). Only near a tie more than one code fits. A scale is within two steps of fp32
// and the same bound. Rows that are not finite must be marked as such.
testing::AssertionResult E4m3Within(double c, const Expected& expected);

}  // namespace reel::kernels
