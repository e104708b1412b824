// SPDX-License-Identifier: Apache-2.0
// Tests that the cost model learns a device's memory.
#include <gtest/gtest.h>

#include "server/front/scheduling/cost_model.h"

namespace reel::front {
namespace {

// With a formula.
WorkShape MemoryShape(int64_t tokens, const std::string& plan = "auto") {
  WorkShape shape;
  shape.model = "m";
  shape.plan = plan;
  shape.passes = {{.tokens = tokens, .rows = 2 * tokens, .steps = 10}};
  shape.frame_pixels = tokens * 32 * 32 * 8;
  shape.where = "H200, 1, abc";
  shape.memory_formula = 7;
  return shape;
}

TEST(CostMemory, TakesTheFormulaForMemoryUntilSuchJobsWereSeen) {
  CostModel costs;
  EXPECT_EQ(costs.PeakMemory(MemoryShape(256)), 7);
  costs.LearnMemory(MemoryShape(256), 5'000'000);
  EXPECT_EQ(costs.PeakMemory(MemoryShape(256)), 5'000'000);
  EXPECT_EQ(costs.PeakMemory(MemoryShape(512)), 7);
  EXPECT_EQ(costs.PeakMemory(MemoryShape(256, "fp8")), 7);
  WorkShape elsewhere = MemoryShape(256);
  elsewhere.where = "H100, 1, abc";
  EXPECT_EQ(costs.PeakMemory(elsewhere), 7);
  WorkShape conditioned = MemoryShape(256);
  conditioned.encoded_pixels = 768 * 512;
  EXPECT_EQ(costs.PeakMemory(conditioned), 7);
}

TEST(CostMemory, MemoryOfAClipIsNotThatOfAPicture) {
  CostModel costs;
  WorkShape picture = MemoryShape(256), clip = MemoryShape(256);
  picture.encoded_pixels = 768 * 512;
  clip.encoded_pixels = 768 * 512 * 121;
  costs.LearnMemory(picture, 5'000'000);
  EXPECT_EQ(costs.PeakMemory(picture), 5'000'000);
  EXPECT_EQ(costs.PeakMemory(clip), 7);
}

TEST(CostMemory, MemoryIsUpAtOnceAndDownByAndBy) {
  CostModel costs;
  costs.LearnMemory(MemoryShape(256), 5'000'000);
  costs.LearnMemory(MemoryShape(256), 0);  // there was nothing to read
  costs.LearnMemory(MemoryShape(256), 4'000'000);
  EXPECT_GT(costs.PeakMemory(MemoryShape(256)), 4'800'000);
  costs.LearnMemory(MemoryShape(256), 6'000'000);
  EXPECT_EQ(costs.PeakMemory(MemoryShape(256)), 6'000'000);
  for (int i = 0; i < 100; ++i) costs.LearnMemory(MemoryShape(256), 4'000'000);
  EXPECT_LT(costs.PeakMemory(MemoryShape(256)), 4'100'000);
}

TEST(CostMemory, MemoryOfASizeInTheSameBucketIsInProportion) {
  CostModel costs;
  costs.LearnMemory(MemoryShape(250), 5'000'000);
  EXPECT_NEAR(static_cast<double>(costs.PeakMemory(MemoryShape(260))), 5'200'000, 2);
}

// Two videos of one size that differ in guidance take what they take, however often the other is
// made.
TEST(CostMemory, MemoryOfAVideoWithGuidanceIsNotThatOfOneWithout) {
  CostModel costs;
  WorkShape unguided = MemoryShape(256);
  unguided.passes[0].rows = 256;
  costs.LearnMemory(MemoryShape(256), 10'000'000);
  EXPECT_EQ(costs.PeakMemory(unguided), 7);
  for (int i = 0; i < 50; ++i) costs.LearnMemory(unguided, 6'000'000);
  EXPECT_EQ(costs.PeakMemory(MemoryShape(256)), 10'000'000);
  EXPECT_EQ(costs.PeakMemory(unguided), 6'000'000);
}

TEST(CostMemory, MemoryIsRaisedAndWrittenDown) {
  CostModel costs;
  costs.RaiseMemory(MemoryShape(256), 100);
  costs.RaiseMemory(MemoryShape(256), 50);
  CostModel again;
  again.Parse(costs.Serialize());
  EXPECT_EQ(again.PeakMemory(MemoryShape(256)), 100);
}

}  // namespace
}  // namespace reel::front
