// SPDX-License-Identifier: Apache-2.0
// Student's t distribution. Pure.
#pragma once

namespace reel {

// The probability of a value of at most `t`, for `degrees` of freedom above 0.
double StudentCdf(double t, double degrees);

// The bound that 95 % of values are within, on both sides of 0: 12.7 for one degree of freedom,
// 1.96 for many.
double StudentBound95(double degrees);

}  // namespace reel
