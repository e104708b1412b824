// SPDX-License-Identifier: Apache-2.0
#include "client/command/pair_verdict.h"

#include <gtest/gtest.h>

#include <cmath>

#include "client/command/quantity.h"

namespace reel::client {
namespace {

void AddStep(v1::RunStats& stats, int step, int milliseconds, int jobs, bool timed) {
  v1::PartSpan& span = *stats.add_spans();
  span.set_part(v1::RUN_PART_DENOISE);
  span.set_step(step);
  span.set_jobs(jobs);
  span.set_timed(timed);
  *span.mutable_duration() = ToProto(absl::Milliseconds(milliseconds));
}

TEST(StepSeconds, IsTheMedianOfStepsThatRanAsUsual) {
  v1::RunStats stats;
  AddStep(stats, 1, 900, 1, false);
  AddStep(stats, 2, 10, 1, false);
  AddStep(stats, 3, 12, 1, false);
  AddStep(stats, 4, 30, 1, true);
  AddStep(stats, 5, 90, 2, false);
  v1::PartSpan& decode = *stats.add_spans();
  decode.set_part(v1::RUN_PART_DECODE);
  *decode.mutable_duration() = ToProto(absl::Seconds(5));
  EXPECT_DOUBLE_EQ(StepSeconds(stats).value(), 0.011);
}

TEST(StepSeconds, TakesTimedStepsThenTheFirstWhereThereAreNoOthers) {
  v1::RunStats stats;
  EXPECT_FALSE(StepSeconds(stats).has_value());
  AddStep(stats, 2, 7, 3, false);
  EXPECT_FALSE(StepSeconds(stats).has_value()) << "shared with other videos";
  AddStep(stats, 1, 9, 1, false);
  EXPECT_DOUBLE_EQ(StepSeconds(stats).value(), 0.009);
  AddStep(stats, 2, 8, 1, true);
  EXPECT_DOUBLE_EQ(StepSeconds(stats).value(), 0.008);
}

// B takes `ratio` times as long, give or take a few per cent.
std::vector<StepPair> PairsOf(int count, double ratio) {
  std::vector<StepPair> pairs;
  for (int i = 0; i < count; ++i) {
    const double drift = 1 + 0.2 * i;  // of the machine: the same for both
    pairs.push_back({drift, drift * ratio * (1 + 0.02 * std::sin(7.0 * i + 1))});
  }
  return pairs;
}

TEST(Judge, FindsADifferenceThatIsThere) {
  const PairResult slower = Judge(PairsOf(10, 1.1), false);
  EXPECT_EQ(slower.verdict, Verdict::kSlower);
  EXPECT_TRUE(slower.has_verdict());
  EXPECT_NEAR(slower.ratio->value, 1.1, 0.02);
  EXPECT_LT(slower.p, 0.01);
  EXPECT_EQ(Judge(PairsOf(10, 0.9), false).verdict, Verdict::kFaster);
}

TEST(Judge, FindsNoneInNoise) {
  EXPECT_EQ(Judge(PairsOf(40, 1), false).verdict, Verdict::kNone);
  EXPECT_FALSE(Judge(PairsOf(40, 1), false).has_verdict());
  EXPECT_EQ(Judge(std::vector<StepPair>(10, {1, 1}), false).verdict, Verdict::kNone);
}

TEST(Judge, NeedsEnoughPairs) {
  EXPECT_EQ(Judge(PairsOf(kLeastPairs - 1, 2), false).verdict, Verdict::kTooFew);
  EXPECT_EQ(Judge(PairsOf(kLeastPairs, 2), false).verdict, Verdict::kSlower);
  EXPECT_EQ(Judge({}, false).verdict, Verdict::kTooFew);
}

TEST(Judge, SaysNothingOfTwoArmsWithTheSameKernels) {
  EXPECT_EQ(Judge(PairsOf(40, 2), true).verdict, Verdict::kSameKernels);
  EXPECT_FALSE(Judge(PairsOf(40, 2), true).has_verdict());
}

}  // namespace
}  // namespace reel::client
