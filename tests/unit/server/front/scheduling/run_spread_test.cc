// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "server/front/scheduling/run_spread.h"

namespace reel::front {
namespace {

TEST(RunSpread, SaysNothingOfAFewRuns) {
  RunSpread spread;
  for (size_t i = 0; i + 1 < RunSpread::kLeast; ++i) spread.Add(1);
  EXPECT_EQ(spread.p90(), 0);
  spread.Add(1.5);
  EXPECT_EQ(spread.p90(), 1.5);
}

TEST(RunSpread, IsWhatNineOfTenStayedWithin) {
  RunSpread spread;
  for (int i = 1; i <= 100; ++i) spread.Add(i / 100.0);
  EXPECT_NEAR(spread.p90(), 0.91, 0.001);
}

TEST(RunSpread, ForgetsWhatIsLongAgo) {
  RunSpread spread;
  for (size_t i = 0; i < RunSpread::kKept; ++i) spread.Add(9);
  for (size_t i = 0; i < RunSpread::kKept; ++i) spread.Add(1);
  EXPECT_EQ(spread.p90(), 1);
}

TEST(RunSpread, IgnoresWhatIsNoRatio) {
  RunSpread spread;
  for (int i = 0; i < 100; ++i) spread.Add(std::numeric_limits<double>::quiet_NaN());
  for (int i = 0; i < 100; ++i) spread.Add(std::numeric_limits<double>::infinity());
  for (int i = 0; i < 100; ++i) spread.Add(-1);
  EXPECT_EQ(spread.p90(), 0);
}

TEST(RunSpread, SurvivesBeingWrittenDown) {
  RunSpread spread;
  for (int i = 1; i <= 150; ++i) spread.Add(1 + i / 1000.0);
  RunSpread copy;
  copy.Parse(spread.Serialize());
  EXPECT_NEAR(copy.p90(), spread.p90(), 1e-4);
  for (int i = 0; i < 60; ++i) copy.Add(2), spread.Add(2);
  EXPECT_EQ(copy.Serialize(), spread.Serialize());
  copy.Parse("rubbish 7x  ");
  EXPECT_EQ(copy.Serialize(), spread.Serialize());
}

}  // namespace
}  // namespace reel::front
