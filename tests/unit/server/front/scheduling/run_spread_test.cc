// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/run_spread.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <random>
#include <utility>

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
  for (int i = 1; i <= 50; ++i) spread.Add(i / 50.0);
  EXPECT_NEAR(spread.p90(), 0.92, 0.001);
}

TEST(RunSpread, ForgetsWhatIsLongAgo) {
  RunSpread spread;
  for (size_t i = 0; i < RunSpread::kKept; ++i) spread.Add(9);
  for (size_t i = 0; i < RunSpread::kKept; ++i) spread.Add(1);
  EXPECT_EQ(spread.p90(), 1);
}

// The share of `runs` runs whose quote held; so many are on their way at once.
double Held(RunSpread& spread, int runs, size_t at_once, const std::function<double()>& ratio) {
  std::deque<std::pair<double, double>> running;  // what each takes, and its quote
  int held = 0, quoted = 0;
  for (int run = 0; run < runs; ++run) {
    running.emplace_back(ratio(), spread.p90() > 0 ? std::max(spread.p90(), 1.0) : 0);
    if (running.size() < at_once) continue;
    const auto [took, quote] = running.front();
    running.pop_front();
    spread.Add(took, quote);
    quoted += quote > 0 ? 1 : 0;
    held += quote > 0 && took <= quote ? 1 : 0;
  }
  return static_cast<double>(held) / quoted;
}

// As on a device that renders one video at a time, then four, and so on.
TEST(RunSpread, NineOfTenQuotesHoldThoughRunsChange) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    std::lognormal_distribution<double> steady(0, 0.03), busy(0.15, 0.2);
    RunSpread spread;
    for (int first = 0; first < 7; ++first) spread.Add(1.6);
    for (int turn = 0; turn < 2; ++turn) {
      const double alone = Held(spread, 125, 1, [&] { return steady(random); });
      EXPECT_GE(alone, 0.86) << seed;
      EXPECT_LE(alone, 0.94) << seed;
      const double together = Held(spread, 125, 4, [&] { return busy(random); });
      EXPECT_GE(together, 0.86) << seed;
      EXPECT_LE(together, 0.94) << seed;
    }
  }
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
  for (int i = 1; i <= 150; ++i) spread.Add(1 + i / 1000.0, 1.02);
  RunSpread copy;
  copy.Parse(spread.Serialize());
  EXPECT_NEAR(copy.p90(), spread.p90(), 1e-4);
  for (int i = 0; i < 60; ++i) copy.Add(2), spread.Add(2);
  EXPECT_EQ(copy.Serialize(), spread.Serialize());
  copy.Parse("rubbish 7x  level=9 level=x");
  EXPECT_EQ(copy.Serialize(), spread.Serialize());
}

}  // namespace
}  // namespace reel::front
