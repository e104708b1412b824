// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/cost_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace reel::front {
namespace {

WorkShape Shape(int64_t tokens, const std::string& plan = "auto") {
  WorkShape shape;
  shape.model = "m";
  shape.plan = plan;
  shape.passes = {{.tokens = tokens, .rows = 2 * tokens, .steps = 10}};
  shape.frames = 25;
  shape.frame_pixels = tokens * 32 * 32 * 8;
  return shape;
}

void Teach(CostModel& costs, const WorkShape& shape, absl::Duration step, int times = 20) {
  for (int i = 0; i < times; ++i) costs.LearnStep(shape.model, shape.plan, shape.rows(), step);
}

absl::Duration StepOf(const CostModel& costs, const WorkShape& shape) {
  return costs.Predict(shape).passes.at(0).step;
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
  EXPECT_EQ(shape.tokens(), 2688);
  EXPECT_EQ(shape.rows(), 5376);
  EXPECT_EQ(shape.steps(), 30);
  spec.guidance_scale = 1;
  EXPECT_EQ(ShapeOf(spec, card, "auto").rows(), 2688);
}

// A first pass of 10 steps and 400 rows, a second of 4 and 1600.
WorkShape TwoPassShape() {
  WorkShape shape = Shape(200);
  shape.passes.push_back({.tokens = 800, .rows = 1600, .steps = 4});
  return shape;
}

TEST(CostModel, KnowsThePassesOfAPreset) {
  model::ModelCard card;
  card.presets = {
      {"twice",
       {},
       {{.sides = {2, 3}, .extra_rows = 1}, {.steps = 3, .sides = {2, 1}, .guided = false}}}};
  model::GenerationSpec spec;
  spec.preset = "twice";
  spec.width = 1216;
  spec.height = 704;
  spec.num_frames = 121;
  spec.timesteps = {1000, 900, 800, 700, 600, 500, 400};
  spec.guidance_scale = 3;
  const WorkShape shape = ShapeOf(spec, card, "auto");
  ASSERT_EQ(shape.passes.size(), 2u);
  EXPECT_EQ(shape.passes[0].rows, 3 * 16 * 25 * 14);
  EXPECT_EQ(shape.passes[1].rows, 16 * 50 * 28);
  EXPECT_EQ(shape.tokens(), 16 * 50 * 28);
  EXPECT_EQ(shape.rows(), 16 * 50 * 28);
  EXPECT_EQ(shape.steps(), 10);
  EXPECT_EQ(shape.frame_pixels, int64_t{1600} * 896 * 121);
}

TEST(CostModel, SumsOverPasses) {
  CostModel costs;
  for (int i = 0; i < 20; ++i) {
    costs.LearnStep("m", "auto", 400, absl::Milliseconds(100));
    costs.LearnStep("m", "auto", 1600, absl::Milliseconds(900));
  }
  const Cost cost = costs.Predict(TwoPassShape());
  EXPECT_TRUE(cost.observed);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(cost.p50() - cost.text - cost.decode), 1000 + 3600, 1);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(cost.p90() - cost.text - cost.decode_p90),
              1.1 * (1000 + 3600), 1);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(cost.longest_step_p90()), 990, 1);
}

TEST(CostModel, LeavesPassByPass) {
  CostModel costs;
  for (int i = 0; i < 20; ++i) {
    costs.LearnStep("m", "auto", 400, absl::Milliseconds(100));
    costs.LearnStep("m", "auto", 1600, absl::Milliseconds(900));
  }
  const Cost cost = costs.Predict(TwoPassShape());
  const auto left = [&](int steps) { return absl::ToDoubleMilliseconds(cost.Left(steps)); };
  const double decode = absl::ToDoubleMilliseconds(cost.decode);
  EXPECT_EQ(cost.Left(0), cost.p50());
  EXPECT_NEAR(left(9) - decode, 100 + 3600, 1);
  EXPECT_NEAR(left(10) - decode, 3600, 1);
  EXPECT_NEAR(left(11) - decode, 2700, 1);
  EXPECT_EQ(cost.Left(14), cost.decode);
  EXPECT_EQ(cost.Left(99), cost.decode);
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
  EXPECT_NEAR(absl::ToDoubleMilliseconds(cost.passes[0].step), 100, 1);
  EXPECT_GT(cost.passes[0].step_p90, cost.passes[0].step);
  EXPECT_LT(cost.passes[0].step_p90, 1.3 * cost.passes[0].step);
}

TEST(CostModel, IsLinearInSteps) {
  CostModel costs;
  Teach(costs, Shape(256), absl::Milliseconds(100));
  const Cost cost = costs.Predict(Shape(256));
  EXPECT_EQ(cost.Left(10), cost.decode);
  EXPECT_EQ(cost.Left(4) - cost.Left(5), cost.passes[0].step);
  EXPECT_EQ(cost.Left(0), cost.p50());
  EXPECT_EQ(cost.Left(99), cost.decode);
}

TEST(CostModel, ScalesFromItsNeighbourWithinReason) {
  CostModel costs;
  Teach(costs, Shape(256), absl::Milliseconds(100));
  EXPECT_NEAR(absl::ToDoubleMilliseconds(StepOf(costs, Shape(512))), 200, 5);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(StepOf(costs, Shape(256 * 64))), 400, 5);
}

TEST(CostModel, KeepsPlansApartButHelpsAnewOne) {
  CostModel costs;
  Teach(costs, Shape(256, "auto"), absl::Milliseconds(100));
  EXPECT_NEAR(absl::ToDoubleMilliseconds(StepOf(costs, Shape(256, "reference"))), 100, 1);
  Teach(costs, Shape(256, "reference"), absl::Milliseconds(300));
  EXPECT_NEAR(absl::ToDoubleMilliseconds(StepOf(costs, Shape(256, "reference"))), 300, 3);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(StepOf(costs, Shape(256, "auto"))), 100, 1);
  WorkShape other = Shape(256);
  other.model = "n";
  EXPECT_FALSE(costs.Predict(other).observed);
}

TEST(CostModel, AnAccidentIsNotLearnedANewStateOfThingsIs) {
  CostModel costs;
  Teach(costs, Shape(256), absl::Milliseconds(100));
  Teach(costs, Shape(256), absl::Seconds(10), 1);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(StepOf(costs, Shape(256))), 100, 1);
  Teach(costs, Shape(256), absl::Seconds(10), 3);
  EXPECT_NEAR(absl::ToDoubleSeconds(StepOf(costs, Shape(256))), 10, 0.1);
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
  EXPECT_NEAR(absl::ToDoubleMilliseconds(StepOf(copy, Shape(256))), 123, 0.1);
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

TEST(CostModel, AFileIsBoundedByItsFramesUntilOneWasMade) {
  CostModel costs;
  WorkShape shape;
  shape.model = "m";
  shape.frames = 9;
  shape.frame_pixels = 9 * 128 * 128;
  shape.crf = 18;
  const OutputSize most = costs.Output(shape);
  EXPECT_EQ(most.likely, 0);
  EXPECT_GT(most.most, shape.frame_pixels * 3 / 2);
  for (int i = 0; i < 10; ++i) costs.LearnOutput(shape, 10'000);
  EXPECT_EQ(costs.Output(shape).likely, 10'000);
  EXPECT_GT(costs.Output(shape).most, 10'000);
  EXPECT_LT(costs.Output(shape).most, 15'000);
  // It says nothing of one that is encoded more finely, and outlives the process.
  shape.crf = 1;
  EXPECT_EQ(costs.Output(shape).likely, 0);
  CostModel again;
  again.Parse(costs.Serialize());
  shape.crf = 18;
  EXPECT_EQ(again.Output(shape).most, costs.Output(shape).most);
  // Nor can it be more than its frames.
  for (int i = 0; i < 10; ++i) costs.LearnOutput(shape, most.most * 4);
  EXPECT_EQ(costs.Output(shape).likely, most.most);
  EXPECT_EQ(costs.Output(shape).most, most.most);
}

}  // namespace
}  // namespace reel::front
