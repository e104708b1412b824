// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/statistics/signed_rank.h"

#include <gtest/gtest.h>

#include <vector>

namespace reel {
namespace {

TEST(SignedRankP, IsExactForFewPairs) {
  // Hamilton's scale of depression before and after (Hollander and Wolfe 1973, table 3.1), R's
  // example of wilcox.test: V = 40, one-sided 0.01953.
  const std::vector<double> scale = {0.952, -0.147, 1.022, 0.43, 0.62, 0.59, 0.49, -0.08, 0.01};
  EXPECT_NEAR(SignedRankP(scale), 0.0390625, 1e-12);
  // Darwin's maize, SciPy's example of wilcoxon.
  const std::vector<double> maize = {6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75};
  EXPECT_NEAR(SignedRankP(maize), 0.041259765625, 1e-12);
}

TEST(SignedRankP, OfPairsThatAllAgreeIsTheChanceOfTheirSigns) {
  EXPECT_NEAR(SignedRankP({1, 2, 3, 4, 5}), 2.0 / 32, 1e-12);
  EXPECT_NEAR(SignedRankP({-1, -2, -3, -4, -5, -6}), 2.0 / 64, 1e-12);
}

// Of printed tables: with ten pairs a sum of 8 is the largest that is significant at 5 %.
TEST(SignedRankP, HasTheCriticalSumOfPrintedTables) {
  EXPECT_LE(SignedRankP({-1, 2, 3, 4, 5, 6, -7, 8, 9, 10}), 0.05);
  EXPECT_GT(SignedRankP({-1, 2, 3, 4, 5, 6, 7, -8, 9, 10}), 0.05);
}

TEST(SignedRankP, WithTiesIsNormal) {
  // By the formula: V = 53, z = 1.7861771.
  EXPECT_NEAR(SignedRankP({1, 1, 2, 2, -2, 3, 3, 3, -4, 5, 0, 6}), 0.07407058, 1e-7);
}

TEST(SignedRankP, OfManyPairsIsNearTheExactOne) {
  std::vector<double> differences;
  for (int i = 1; i <= 50; ++i) differences.push_back(i % 3 == 0 ? -i : i);
  const double exact = SignedRankP(differences);
  differences.push_back(0.5);
  EXPECT_NEAR(SignedRankP(differences), exact, 0.01);
}

TEST(SignedRankP, WithoutDifferencesIsOne) {
  EXPECT_EQ(SignedRankP({}), 1);
  EXPECT_EQ(SignedRankP({0, 0}), 1);
  EXPECT_EQ(SignedRankP({1, -1}), 1);
}

}  // namespace
}  // namespace reel
