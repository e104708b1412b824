// SPDX-License-Identifier: Apache-2.0
#include "client/bench/load_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace reel::client {
namespace {

TEST(ArrivalsOf, EvenOnesKeepTheirDistance) {
  LoadPlan plan;
  plan.rate = 4;
  plan.count = 3;
  plan.poisson = false;
  const auto arrivals = ArrivalsOf(plan);
  ASSERT_EQ(arrivals.size(), 3u);
  EXPECT_EQ(arrivals[0].due, absl::ZeroDuration());
  EXPECT_EQ(arrivals[2].due, absl::Milliseconds(500));
}

TEST(ArrivalsOf, PoissonKeepsTheRateAndItsSpread) {
  LoadPlan plan;
  plan.rate = 100;
  plan.count = 20'001;
  const auto arrivals = ArrivalsOf(plan);
  const double mean = absl::ToDoubleSeconds(arrivals.back().due) / 20'000;
  EXPECT_NEAR(mean, 0.01, 0.0003);
  double squares = 0;
  for (size_t i = 1; i < arrivals.size(); ++i) {
    ASSERT_GE(arrivals[i].due, arrivals[i - 1].due);
    const double gap = absl::ToDoubleSeconds(arrivals[i].due - arrivals[i - 1].due);
    squares += (gap - mean) * (gap - mean);
  }
  // Of an exponential distribution the deviation is the mean.
  EXPECT_NEAR(std::sqrt(squares / 20'000), 0.01, 0.0005);
}

TEST(ArrivalsOf, TheSameSeedIsTheSameLoadAndDrawsEverySpec) {
  LoadPlan plan;
  plan.count = 200;
  plan.specs = 3;
  plan.seed = 7;
  const auto one = ArrivalsOf(plan), again = ArrivalsOf(plan);
  std::set<size_t> drawn;
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].due, again[i].due);
    EXPECT_EQ(one[i].spec, again[i].spec);
    drawn.insert(one[i].spec);
  }
  EXPECT_EQ(drawn.size(), 3u);
  plan.seed = 8;
  EXPECT_NE(ArrivalsOf(plan)[1].due, one[1].due);
}

}  // namespace
}  // namespace reel::client
