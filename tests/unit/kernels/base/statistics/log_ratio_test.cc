// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/statistics/log_ratio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>

namespace reel {
namespace {

Moments MomentsOf(std::initializer_list<double> values) {
  Moments moments;
  for (const double value : values) moments.Add(value);
  return moments;
}

// Hours of sleep under two drugs (Cushny and Peebles 1905; Student 1908), as R's example of t.test
// has them: Welch's interval of their difference is -3.3654832 to 0.2054832.
Moments FirstDrug() { return MomentsOf({0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}); }
Moments SecondDrug() { return MomentsOf({1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}); }

TEST(Moments, AreThoseOfTheSample) {
  const Moments drug = SecondDrug();
  EXPECT_EQ(drug.count(), 10);
  EXPECT_NEAR(drug.mean(), 2.33, 1e-12);
  EXPECT_NEAR(drug.variance(), 4.009, 1e-12);
  EXPECT_EQ(MomentsOf({5}).variance(), 0);
}

TEST(Moments, KeepTheVarianceOfValuesThatAreCloseTogether) {
  EXPECT_NEAR(MomentsOf({1e9 + 1, 1e9 + 2, 1e9 + 3}).variance(), 1, 1e-6);
}

TEST(WelchRatio, IsThatOfAPublishedExample) {
  const auto ratio = WelchRatio(SecondDrug(), FirstDrug());
  ASSERT_TRUE(ratio.has_value());
  EXPECT_NEAR(std::log(ratio->value), 0.75 - 2.33, 1e-12);
  EXPECT_NEAR(std::log(ratio->low), -3.3654832, 1e-6);
  EXPECT_NEAR(std::log(ratio->high), 0.2054832, 1e-6);
  EXPECT_FALSE(ratio->differs());
}

TEST(WelchRatio, TurnsAroundWithItsSides) {
  const auto ratio = WelchRatio(FirstDrug(), SecondDrug());
  const auto turned = WelchRatio(SecondDrug(), FirstDrug());
  EXPECT_NEAR(ratio->low * turned->high, 1, 1e-12);
}

TEST(WelchRatio, NeedsTwoValuesASide) {
  EXPECT_FALSE(WelchRatio(MomentsOf({1}), FirstDrug()).has_value());
  EXPECT_FALSE(WelchRatio(FirstDrug(), MomentsOf({})).has_value());
}

TEST(WelchRatio, OfValuesWithoutSpreadIsAPoint) {
  const auto ratio = WelchRatio(MomentsOf({0, 0}), MomentsOf({1, 1}));
  EXPECT_NEAR(ratio->low, std::exp(1), 1e-12);
  EXPECT_TRUE(ratio->differs());
  EXPECT_FALSE(WelchRatio(MomentsOf({2, 2}), MomentsOf({2, 2}))->differs());
}

// The same hours, paired by sleeper: the mean of the differences is -1.58, its interval -2.4598858
// to -0.7001142 (R's example of a paired t.test).
TEST(PairedRatio, IsThatOfAPublishedExample) {
  const auto ratio =
      PairedRatio(MomentsOf({-1.2, -2.4, -1.3, -1.3, 0.0, -1.0, -1.8, -0.8, -4.6, -1.4}));
  ASSERT_TRUE(ratio.has_value());
  EXPECT_NEAR(std::log(ratio->value), -1.58, 1e-12);
  EXPECT_NEAR(std::log(ratio->low), -2.4598858, 1e-6);
  EXPECT_NEAR(std::log(ratio->high), -0.7001142, 1e-6);
  EXPECT_TRUE(ratio->differs());
  EXPECT_FALSE(PairedRatio(MomentsOf({1})).has_value());
}

TEST(PooledRatio, IsNearTheRatioThatIsKnownBest) {
  EXPECT_FALSE(PooledRatio({}).has_value());
  const Ratio narrow{2, 2 / std::exp(0.1), 2 * std::exp(0.1)};
  const Ratio wide{4, 4 / std::exp(0.3), 4 * std::exp(0.3)};
  const Ratio pooled = PooledRatio({narrow, wide}).value();
  EXPECT_NEAR(std::log(pooled.value), 0.9 * std::log(2) + 0.1 * std::log(4), 1e-12);
  EXPECT_NEAR(std::log(pooled.high / pooled.value), 1 / std::sqrt(1 / 0.01 + 1 / 0.09), 1e-12);
  EXPECT_NEAR(PooledRatio({narrow})->low, narrow.low, 1e-12);
  EXPECT_NEAR(PooledRatio({{3, 3, 3}, wide})->value, 3, 1e-6);
}

}  // namespace
}  // namespace reel
