// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "server/front/metrics/worker_metrics.h"

namespace reel::front {
namespace {

StepSample Piece(absl::Duration took, std::vector<kernels::VariantTime> times = {}) {
  StepSample sample;
  sample.model = "ltx";
  sample.plan = "auto";
  sample.duration = took;
  sample.kernels = std::move(times);
  return sample;
}

std::map<std::string, double> ByOperator(const std::vector<OperatorSeconds>& seconds) {
  std::map<std::string, double> by;
  for (const OperatorSeconds& one : seconds) by[one.op] += one.seconds;
  return by;
}

TEST(KernelSeconds, PiecesThatWereNotTimedAreLikeTheNextThatWas) {
  KernelSeconds kernels;
  EXPECT_TRUE(kernels.Take("w", Piece(absl::Seconds(4))).empty());
  EXPECT_TRUE(kernels.Take("w", Piece(absl::Seconds(4))).empty());
  auto seconds = ByOperator(kernels.Take(
      "w",
      Piece(absl::Seconds(2), {{"linear", "a", 3, 1'500'000'000}, {"norm", "b", 9, 300'000'000}})));
  EXPECT_DOUBLE_EQ(seconds["linear"], 7.5);
  EXPECT_DOUBLE_EQ(seconds["norm"], 1.5);
  EXPECT_DOUBLE_EQ(seconds["gaps"], 1);
  // What was handed out is not handed out again.
  seconds =
      ByOperator(kernels.Take("w", Piece(absl::Seconds(1), {{"linear", "a", 1, 1'000'000'000}})));
  EXPECT_DOUBLE_EQ(seconds["linear"], 1);
  EXPECT_DOUBLE_EQ(seconds["gaps"], 0);
}

TEST(KernelSeconds, EachKindOfWorkIsKeptApart) {
  KernelSeconds kernels;
  StepSample other_plan = Piece(absl::Seconds(10));
  other_plan.plan = "reference";
  StepSample decode = Piece(absl::Seconds(10));
  decode.stage = model::Stage::kDecode;
  kernels.Take("w", other_plan);
  kernels.Take("w", decode);
  kernels.Take("another", Piece(absl::Seconds(10)));
  const auto seconds =
      ByOperator(kernels.Take("w", Piece(absl::Seconds(1), {{"linear", "a", 1, 500'000'000}})));
  EXPECT_DOUBLE_EQ(seconds.at("linear"), 0.5);
}

TEST(KernelSeconds, OperatorsThatTookLongerThanTheirPieceStillSumToIt) {
  KernelSeconds kernels;
  const auto seconds = ByOperator(kernels.Take(
      "w",
      Piece(absl::Seconds(1), {{"linear", "a", 1, 1'500'000'000}, {"norm", "b", 1, 500'000'000}})));
  EXPECT_DOUBLE_EQ(seconds.at("linear"), 0.75);
  EXPECT_DOUBLE_EQ(seconds.at("norm"), 0.25);
  EXPECT_DOUBLE_EQ(seconds.at("gaps"), 0);
}

TEST(KernelSeconds, PlansWithoutEndShareOneAccount) {
  KernelSeconds kernels;
  for (size_t i = 0; i < 2 * KernelSeconds::kMostKinds; ++i) {
    StepSample sample = Piece(absl::Seconds(1));
    sample.plan = "plan" + std::to_string(i);
    kernels.Take("w", sample);
  }
  StepSample last = Piece(absl::Seconds(1), {{"linear", "a", 1, 1'000'000'000}});
  last.plan = "yet another";
  // All that came after the last one of its own.
  EXPECT_DOUBLE_EQ(ByOperator(kernels.Take("w", last)).at("linear"), KernelSeconds::kMostKinds + 1);
}

}  // namespace
}  // namespace reel::front
