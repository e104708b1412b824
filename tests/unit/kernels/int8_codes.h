// SPDX-License-Identifier: Apache-2.0
// Rows as int8, in naive fp64: kernels/rows/int8_layout.h by its definition.
#pragma once

#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {

std::vector<double> TurnedRow(const std::vector<double>& row);

// Scales of rows but for what fp32 loses, codes within what that leaves open; a row whose sums are
// not finite has the scale NaN, and any codes.
testing::AssertionResult Int8Within(const Expected& expected);

}  // namespace reel::kernels
