// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/row_loops.h"

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reel::kernels {
namespace {

using testing::ElementsAre;

TEST(ReadRow, FollowsStridesAndFillsWhatIsAbsent) {
  float data[] = {0, 1, 2, 3, 4, 5};
  RowShape shape{.rows = 2, .width = 3, .dims = 1, .sizes = {2}};
  RowOperand operand{.data = data, .dtype = Dtype::kF32, .inner = 2, .strides = {1}};
  std::vector<double> row(3);
  ReadRow(shape, operand, 1, row);
  EXPECT_THAT(row, ElementsAre(1, 3, 5));
  ReadRow(shape, {}, 1, row, 7);
  EXPECT_THAT(row, ElementsAre(7, 7, 7));
  WriteRow(shape, operand, 0, row);
  EXPECT_THAT(data, ElementsAre(7, 1, 7, 3, 7, 5));
}

TEST(Rounded, RoundsToTheType) {
  EXPECT_EQ(Rounded(1 + 0x1p-9, Dtype::kBf16), 1);
  EXPECT_EQ(Rounded(1 + 0x1p-9, Dtype::kF16), 1 + 0x1p-9);
  EXPECT_EQ(Rounded(70000, Dtype::kF16), std::numeric_limits<double>::infinity());
}

TEST(SumOfSquares, OverflowsWhereFp32Does) {
  const double fits[] = {1e19, 1e19};
  const double overflows[] = {2e19, 0};
  EXPECT_DOUBLE_EQ(SumOfSquares(fits), 2e38);
  EXPECT_TRUE(std::isinf(SumOfSquares(overflows)));
}

}  // namespace
}  // namespace reel::kernels
