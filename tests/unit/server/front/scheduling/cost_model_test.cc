// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/cost_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "absl/strings/str_cat.h"
#include "tests/unit/server/front/scheduling/step_of.h"

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
  for (int i = 0; i < times; ++i) costs.LearnStep(StepOf(shape, shape.passes.back()), step);
}

absl::Duration StepTime(const CostModel& costs, const WorkShape& shape) {
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
    costs.LearnStep(StepOf(TwoPassShape(), TwoPassShape().passes[0]), absl::Milliseconds(100));
    costs.LearnStep(StepOf(TwoPassShape(), TwoPassShape().passes[1]), absl::Milliseconds(900));
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
    costs.LearnStep(StepOf(TwoPassShape(), TwoPassShape().passes[0]), absl::Milliseconds(100));
    costs.LearnStep(StepOf(TwoPassShape(), TwoPassShape().passes[1]), absl::Milliseconds(900));
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
  EXPECT_NEAR(absl::ToDoubleMilliseconds(StepTime(costs, Shape(512))), 200, 5);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(StepTime(costs, Shape(256 * 64))), 400, 5);
}

TEST(CostModel, KeepsPlansApartButHelpsAnewOne) {
  CostModel costs;
  Teach(costs, Shape(256, "auto"), absl::Milliseconds(100));
  EXPECT_NEAR(absl::ToDoubleMilliseconds(StepTime(costs, Shape(256, "reference"))), 100, 1);
  Teach(costs, Shape(256, "reference"), absl::Milliseconds(300));
  EXPECT_NEAR(absl::ToDoubleMilliseconds(StepTime(costs, Shape(256, "reference"))), 300, 3);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(StepTime(costs, Shape(256, "auto"))), 100, 1);
  WorkShape other = Shape(256);
  other.model = "n";
  EXPECT_FALSE(costs.Predict(other).observed);
}

void TeachReused(CostModel& costs, const WorkShape& shape, absl::Duration step, int times) {
  SeenStep seen = StepOf(shape, shape.passes.back());
  seen.reused = true;
  for (int i = 0; i < times; ++i) costs.LearnStep(seen, step);
}

TEST(CostModel, ReusedStepsCountAsOftenAsTheyCameAndAreNeverTheRule) {
  CostModel costs;
  const WorkShape cache = Shape(256, "cache");
  // Ten times as fast: in one cell with them full steps would count as accidents.
  for (int run = 0; run < 10; ++run) {
    Teach(costs, cache, absl::Milliseconds(100), 2);
    TeachReused(costs, cache, absl::Milliseconds(10), 6);
  }
  const Cost cost = costs.Predict(cache);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(cost.passes[0].step), 0.25 * 100 + 0.75 * 10, 1);
  EXPECT_GE(cost.longest_step_p90(), absl::Milliseconds(100)) << "a step may be a full one";
  // Of another plan full ones alone tell.
  EXPECT_NEAR(absl::ToDoubleMilliseconds(StepTime(costs, Shape(256, "auto"))), 100, 1);
  CostModel again;
  again.Parse(costs.Serialize());
  EXPECT_EQ(StepTime(again, cache), StepTime(costs, cache));
  // Of several jobs only some may have reused theirs.
  SeenStep shared = StepOf(cache, cache.passes.back());
  shared.shared = shared.reused = true;
  const std::string before = costs.Serialize();
  costs.LearnStep(shared, absl::Milliseconds(50));
  EXPECT_EQ(costs.Serialize(), before);
}

TEST(CostModel, KeepsKindsOfDevicesApart) {
  CostModel costs;
  WorkShape fast = Shape(256), slow = Shape(256), fresh = Shape(256), any = Shape(256);
  fast.where = "fast";
  slow.where = "slow";
  fresh.where = "fresh";
  Teach(costs, fast, absl::Milliseconds(100));
  Teach(costs, slow, absl::Milliseconds(900));
  EXPECT_NEAR(absl::ToDoubleMilliseconds(StepTime(costs, fast)), 100, 1);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(StepTime(costs, slow)), 900, 9);
  EXPECT_TRUE(costs.Predict(fast).observed);
  EXPECT_FALSE(costs.Predict(fresh).observed) << "of another device that is a guess";
  EXPECT_GE(StepTime(costs, fresh), absl::Milliseconds(99));
  EXPECT_TRUE(costs.Predict(any).observed) << "where is not known before a worker is there";
}

// Of a transformer: rows, and rows times what each attends to.
absl::Duration TrueStep(const WorkShape& shape) {
  const model::PassWork& pass = shape.passes[0];
  const auto rows = static_cast<double>(pass.rows);
  return absl::Seconds(0.003 + 2e-5 * rows + 4e-9 * rows * static_cast<double>(pass.tokens));
}

TEST(CostModel, InterpolatesAShapeThatWasNeverSeen) {
  CostModel costs;
  for (const int64_t tokens : {256, 640, 2688, 6000}) {
    Teach(costs, Shape(tokens), TrueStep(Shape(tokens)));
  }
  for (const int64_t tokens : {400, 1200, 4000, 12000}) {
    const double truth = absl::ToDoubleSeconds(TrueStep(Shape(tokens)));
    EXPECT_NEAR(absl::ToDoubleSeconds(StepTime(costs, Shape(tokens))) / truth, 1, 0.01) << tokens;
  }
}

TEST(CostModel, TellsShapesOfOneSizeOfStepApart) {
  CostModel costs;
  WorkShape guided = Shape(256), plain = Shape(512);
  plain.passes[0].rows = guided.passes[0].rows;
  Teach(costs, guided, absl::Milliseconds(100));
  Teach(costs, plain, absl::Milliseconds(130));
  EXPECT_NEAR(absl::ToDoubleMilliseconds(StepTime(costs, guided)), 100, 1);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(StepTime(costs, plain)), 130, 1);
}

TEST(CostModel, StepsOfSeveralJobsSayNothingWrongOfOneAlone) {
  CostModel costs;
  const WorkShape shape = Shape(256);
  SeenStep shared = StepOf(shape, shape.passes[0]);
  shared.rows *= 4;
  shared.attention *= 4;
  shared.shared = true;
  for (int i = 0; i < 20; ++i) costs.LearnStep(shared, absl::Milliseconds(400));
  EXPECT_NEAR(absl::ToDoubleMilliseconds(StepTime(costs, shape)), 100, 10);
  Teach(costs, shape, absl::Milliseconds(120));
  EXPECT_NEAR(absl::ToDoubleMilliseconds(StepTime(costs, shape)), 120, 1);
}

TEST(CostModel, CountsConditionsAndPreviews) {
  CostModel costs;
  WorkShape with = Shape(256);
  with.condition_pixels = 2 * 768 * 512;
  with.previews = 4;
  model::RunStats stats;
  stats.text_encode = absl::Milliseconds(40);
  stats.denoise = absl::Seconds(1);
  stats.decode = absl::Milliseconds(200);
  stats.mean_batch = 1;
  stats.device_seconds = 1.24;
  Teach(costs, Shape(256), absl::Milliseconds(100));
  costs.LearnRun(Shape(256), stats, absl::ZeroDuration(), absl::ZeroDuration());
  stats.text_encode += absl::Milliseconds(60);
  stats.device_seconds += 0.06 + 4 * 0.03;
  costs.LearnRun(with, stats, absl::ZeroDuration(), absl::ZeroDuration());
  Teach(costs, with, absl::Milliseconds(110));
  const Cost plain = costs.Predict(Shape(256)), more = costs.Predict(with);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(plain.p50()), 40 + 1000 + 200, 2);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(more.p50()), 100 + 1100 + 120 + 200, 2);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(more.Left(5)), 550 + 60 + 200, 2);
  EXPECT_EQ(more.Left(10), more.decode);
}

TEST(CostModel, QuotesWhatNineOfTenRunsStayedWithin) {
  CostModel costs;
  const WorkShape shape = Shape(256);
  Teach(costs, shape, absl::Milliseconds(100));
  const double before = absl::FDivDuration(costs.Predict(shape).p90(), costs.Predict(shape).p50());
  EXPECT_GT(before, 1.05);
  std::mt19937 random(7);
  std::normal_distribution<double> noise(1, 0.02);
  int within = 0;
  constexpr int kRuns = 1000;
  for (int i = 0; i < kRuns; ++i) {
    const Cost cost = costs.Predict(shape);
    model::RunStats stats;
    stats.denoise = absl::Seconds(noise(random));
    stats.mean_batch = 1;
    within += i >= 100 && WorkOf(stats) <= cost.p90() ? 1 : 0;
    costs.LearnRun(shape, stats, cost.p50(), cost.p90());
    Teach(costs, shape, stats.denoise / 10, 1);
  }
  EXPECT_NEAR(within / (kRuns - 100.0), 0.91, 0.03);
  CostModel copy;
  copy.Parse(costs.Serialize());
  EXPECT_NEAR(copy.Predict(shape).spread, costs.Predict(shape).spread, 1e-4);
  EXPECT_GE(costs.Predict(shape).p90(), costs.Predict(shape).p50());
}

TEST(CostModel, AnAccidentIsNotLearnedANewStateOfThingsIs) {
  CostModel costs;
  Teach(costs, Shape(256), absl::Milliseconds(100));
  Teach(costs, Shape(256), absl::Seconds(10), 1);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(StepTime(costs, Shape(256))), 100, 1);
  Teach(costs, Shape(256), absl::Seconds(10), 3);
  EXPECT_NEAR(absl::ToDoubleSeconds(StepTime(costs, Shape(256))), 10, 0.1);
}

TEST(CostModel, LearnsTextAndDecodeFromARun) {
  CostModel costs;
  model::RunStats stats;
  stats.text_encode = absl::Seconds(2);
  stats.decode = absl::Seconds(3);
  stats.encode_exposed = absl::Seconds(1);
  costs.LearnRun(Shape(256), stats, absl::ZeroDuration(), absl::ZeroDuration());
  const Cost cost = costs.Predict(Shape(256));
  EXPECT_NEAR(absl::ToDoubleSeconds(cost.text), 2, 0.01);
  EXPECT_NEAR(absl::ToDoubleSeconds(cost.decode), 4, 0.01);
}

TEST(CostModel, SurvivesBeingWrittenDown) {
  CostModel costs;
  Teach(costs, Shape(256), absl::Milliseconds(123));
  EXPECT_TRUE(costs.TakeChanged());
  EXPECT_FALSE(costs.TakeChanged());
  CostModel copy;
  copy.Parse(costs.Serialize());
  EXPECT_NEAR(absl::ToDoubleMilliseconds(StepTime(copy, Shape(256))), 123, 0.1);
  EXPECT_TRUE(copy.Predict(Shape(256)).observed);
}

TEST(CostModel, SkipsWhatItCannotRead) {
  CostModel costs;
  costs.Parse(
      "m\tauto\t\t0\t4\t0\t0\tnan\t0\t3\nm\tauto\t\t9\t4\t0\t0\t1\t0\t3\nrubbish\n"
      "\t\t\t\t\t\t\nm\tauto\t0\t4\t1\t0\t3\nm\tauto\t\t1 1 1 1 1 1 1 1 1 1 1\n\n");
  EXPECT_FALSE(costs.Predict(Shape(256)).observed);
}

TEST(CostModel, IsBoundedWhateverPlansCallersInvent) {
  CostModel costs;
  for (int i = 0; i < 10000; ++i) {
    Teach(costs, Shape(256, absl::StrCat("plan", i)), absl::Seconds(1), 1);
  }
  EXPECT_LT(costs.Serialize().size(), 400'000u);
  // What was learned longest ago makes room.
  EXPECT_TRUE(costs.Predict(Shape(256, "plan9999")).observed);
  Teach(costs, Shape(256, "plan9999"), absl::Seconds(2), 30);
  EXPECT_GT(StepTime(costs, Shape(256, "plan9999")), absl::Seconds(1.5));
}

TEST(CostModel, WhatIsStillLearnedIsKeptHoweverOldItIs) {
  CostModel costs;
  Teach(costs, Shape(256, "daily"), absl::Seconds(1));
  for (int i = 0; i < 10000; ++i) {
    Teach(costs, Shape(256, absl::StrCat("plan", i)), absl::Seconds(3), 1);
    if (i % 1000 == 0) Teach(costs, Shape(256, "daily"), absl::Seconds(1), 1);
  }
  EXPECT_NEAR(absl::ToDoubleSeconds(StepTime(costs, Shape(256, "daily"))), 1, 0.01);
  // What came from the store makes room like the rest.
  CostModel again;
  again.Parse(costs.Serialize());
  for (int i = 0; i < 5000; ++i) {
    Teach(again, Shape(256, absl::StrCat("other", i)), absl::Seconds(3), 1);
  }
  EXPECT_NEAR(absl::ToDoubleSeconds(StepTime(again, Shape(256, "daily"))), 3, 0.01);
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
