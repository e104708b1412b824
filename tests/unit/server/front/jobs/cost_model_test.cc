// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/cost_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace reel::server {
namespace {

WorkShape Shape(int64_t tokens, const std::string& plan = "auto") {
  WorkShape shape;
  shape.model = "m";
  shape.plan = plan;
  shape.tokens = tokens;
  shape.passes = 2;
  shape.steps = 10;
  shape.frames = 25;
  shape.frame_pixels = tokens * 32 * 32 * 8;
  return shape;
}

void Teach(CostModel& costs, const WorkShape& shape, absl::Duration step, int times = 20) {
  for (int i = 0; i < times; ++i) costs.LearnStep(shape.model, shape.plan, shape.rows(), step);
}

TEST(CostModel, KnowsTheShapeOfASpec) {
  model::ModelCard card;
  card.name = "m";
  model::GenerationSpec spec;
  spec.width = 768;
  spec.height = 512;
  spec.num_frames = 49;
  spec.num_inference_steps = 30;
  spec.guidance_scale = 3;
  const WorkShape shape = ShapeOf(spec, card, "auto");
  EXPECT_EQ(shape.tokens, 2688);
  EXPECT_EQ(shape.rows(), 5376);
  EXPECT_EQ(shape.steps, 30);
  spec.guidance_scale = 1;
  EXPECT_EQ(ShapeOf(spec, card, "auto").passes, 1);
}

TEST(CostModel, SaysWhenItOnlyGuesses) {
  CostModel costs;
  EXPECT_FALSE(costs.Predict(Shape(256)).observed);
  EXPECT_GT(costs.Predict(Shape(256)).p50(), absl::ZeroDuration());
  Teach(costs, Shape(256), absl::Seconds(1), 1);
  EXPECT_TRUE(costs.Predict(Shape(256)).observed);
}

TEST(CostModel, LearnsAStep) {
  CostModel costs;
  Teach(costs, Shape(256), absl::Milliseconds(100));
  const Cost cost = costs.Predict(Shape(256));
  EXPECT_NEAR(absl::ToDoubleMilliseconds(cost.step), 100, 1);
  EXPECT_GT(cost.step_p90, cost.step);
  EXPECT_LT(cost.step_p90, 1.3 * cost.step);
}

TEST(CostModel, IsLinearInSteps) {
  CostModel costs;
  Teach(costs, Shape(256), absl::Milliseconds(100));
  const Cost cost = costs.Predict(Shape(256));
  EXPECT_EQ(cost.Left(10), cost.decode);
  EXPECT_EQ(cost.Left(4) - cost.Left(5), cost.step);
  EXPECT_EQ(cost.Left(0), cost.p50());
  EXPECT_EQ(cost.Left(99), cost.decode);
}

TEST(CostModel, ScalesFromItsNeighbourWithinReason) {
  CostModel costs;
  Teach(costs, Shape(256), absl::Milliseconds(100));
  EXPECT_NEAR(absl::ToDoubleMilliseconds(costs.Predict(Shape(512)).step), 200, 5);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(costs.Predict(Shape(256 * 64)).step), 400, 5);
}

TEST(CostModel, KeepsPlansApartButHelpsAnewOne) {
  CostModel costs;
  Teach(costs, Shape(256, "auto"), absl::Milliseconds(100));
  EXPECT_NEAR(absl::ToDoubleMilliseconds(costs.Predict(Shape(256, "reference")).step), 100, 1);
  Teach(costs, Shape(256, "reference"), absl::Milliseconds(300));
  EXPECT_NEAR(absl::ToDoubleMilliseconds(costs.Predict(Shape(256, "reference")).step), 300, 3);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(costs.Predict(Shape(256, "auto")).step), 100, 1);
  WorkShape other = Shape(256);
  other.model = "n";
  EXPECT_FALSE(costs.Predict(other).observed);
}

TEST(CostModel, AnAccidentIsNotLearnedANewStateOfThingsIs) {
  CostModel costs;
  Teach(costs, Shape(256), absl::Milliseconds(100));
  Teach(costs, Shape(256), absl::Seconds(10), 1);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(costs.Predict(Shape(256)).step), 100, 1);
  Teach(costs, Shape(256), absl::Seconds(10), 3);
  EXPECT_NEAR(absl::ToDoubleSeconds(costs.Predict(Shape(256)).step), 10, 0.1);
}

TEST(CostModel, LearnsTextDecodeAndMemoryFromARun) {
  CostModel costs;
  model::RunStats stats;
  stats.text_encode = absl::Seconds(2);
  stats.decode = absl::Seconds(3);
  stats.encode_exposed = absl::Seconds(1);
  stats.peak_memory_bytes = 5'000'000'000;
  costs.LearnRun(Shape(256), stats);
  stats.peak_memory_bytes = 4'000'000'000;
  costs.LearnRun(Shape(256), stats);
  const Cost cost = costs.Predict(Shape(256));
  EXPECT_NEAR(absl::ToDoubleSeconds(cost.text), 2, 0.01);
  EXPECT_NEAR(absl::ToDoubleSeconds(cost.decode), 4, 0.01);
  EXPECT_EQ(costs.PeakMemory(Shape(256)), 5'000'000'000);
  EXPECT_EQ(costs.PeakMemory(Shape(512)), 0);
}

TEST(CostModel, SurvivesBeingWrittenDown) {
  CostModel costs;
  Teach(costs, Shape(256), absl::Milliseconds(123));
  EXPECT_TRUE(costs.TakeChanged());
  EXPECT_FALSE(costs.TakeChanged());
  CostModel copy;
  copy.Parse(costs.Serialize());
  EXPECT_NEAR(absl::ToDoubleMilliseconds(copy.Predict(Shape(256)).step), 123, 0.1);
  EXPECT_TRUE(copy.Predict(Shape(256)).observed);
}

TEST(CostModel, SkipsWhatItCannotRead) {
  CostModel costs;
  costs.Parse("m\tauto\t0\t4\tnan\t0\t3\nm\tauto\t9\t4\t1\t0\t3\nrubbish\n\t\t\t\t\t\t\n\n");
  EXPECT_FALSE(costs.Predict(Shape(256)).observed);
}

TEST(CostModel, IsBoundedWhateverPlansCallersInvent) {
  CostModel costs;
  for (int i = 0; i < 10000; ++i) {
    Teach(costs, Shape(256, absl::StrCat("plan", i)), absl::Seconds(1), 1);
  }
  EXPECT_LT(costs.Serialize().size(), 400'000u);
}

}  // namespace
}  // namespace reel::server
