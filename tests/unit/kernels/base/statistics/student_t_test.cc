// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/statistics/student_t.h"

#include <gtest/gtest.h>

namespace reel {
namespace {

// The column 0.975 of printed tables of the t distribution.
TEST(StudentBound95, IsThatOfPrintedTables) {
  const struct {
    double degrees, bound;
  } kTable[] = {{1, 12.706}, {2, 4.303},  {3, 3.182},  {5, 2.571},    {10, 2.228},
                {20, 2.086}, {30, 2.042}, {60, 2.000}, {120, 1.9799}, {1e6, 1.95996}};
  for (const auto& row : kTable) {
    EXPECT_NEAR(StudentBound95(row.degrees), row.bound, 5.1e-4) << row.degrees;
  }
}

TEST(StudentBound95, TakesDegreesThatAreNoWholeNumber) {
  EXPECT_GT(StudentBound95(17.776), StudentBound95(18));
  EXPECT_LT(StudentBound95(17.776), StudentBound95(17));
}

TEST(StudentCdf, IsSymmetricAndKnownForOneDegree) {
  EXPECT_DOUBLE_EQ(StudentCdf(0, 7), 0.5);
  // Cauchy's distribution: 1/2 + atan(1) / pi.
  EXPECT_NEAR(StudentCdf(1, 1), 0.75, 1e-12);
  EXPECT_NEAR(StudentCdf(-2.3, 4.5) + StudentCdf(2.3, 4.5), 1, 1e-12);
}

}  // namespace
}  // namespace reel
