// SPDX-License-Identifier: Apache-2.0
// Steps of models whose weights stream, as they are predicted.
#include <gtest/gtest.h>

#include <string>

#include "server/front/scheduling/cost_model.h"
#include "tests/unit/server/front/scheduling/step_of.h"

namespace reel::front {
namespace {

WorkShape StreamedShape(int64_t bytes, const std::string& where) {
  model::ModelCard card;
  card.name = "m";
  card.streamed_bytes = bytes;
  model::GenerationSpec spec;
  spec.width = spec.height = 256;
  spec.num_frames = 25;
  spec.num_inference_steps = 10;
  WorkShape shape = ShapeOf(spec, card, "auto");
  shape.where = where;
  return shape;
}

Cost::Pass PassOf(const CostModel& costs, const WorkShape& shape) {
  return costs.Predict(shape).passes.at(0);
}

void TeachSteps(CostModel& costs, const WorkShape& shape, absl::Duration took) {
  for (int i = 0; i < 20; ++i) costs.LearnStep(StepOf(shape, shape.passes[0]), took);
}

TEST(StreamedSteps, TakeTheirCopiesAtLeastUntilOneWasSeen) {
  const WorkShape streamed = StreamedShape(10'000'000'000, "here");
  CostModel costs;
  EXPECT_EQ(PassOf(costs, streamed).step, absl::Milliseconds(400));
  EXPECT_LT(PassOf(costs, StreamedShape(0, "here")).step, absl::Milliseconds(100));
  EXPECT_FALSE(costs.Predict(streamed).observed) << "nobody is refused for it";
  TeachSteps(costs, streamed, absl::Milliseconds(300));
  EXPECT_EQ(PassOf(costs, streamed).step, absl::Milliseconds(300));
  EXPECT_TRUE(costs.Predict(streamed).observed);
}

TEST(StreamedSteps, TakeTheirCopiesAtTheSpeedThatTheWorkerMeasured) {
  const WorkShape streamed = StreamedShape(10'000'000'000, "here");
  CostModel costs;
  costs.LearnCopies("m", "here", 50'000'000'000);
  EXPECT_EQ(PassOf(costs, streamed).step, absl::Milliseconds(200));
  EXPECT_EQ(PassOf(costs, StreamedShape(10'000'000'000, "there")).step, absl::Milliseconds(400));
  costs.LearnCopies("m", "here", 0);
  EXPECT_EQ(PassOf(costs, streamed).step, absl::Milliseconds(200)) << "it could not measure";
  costs.LearnCopies("m", "here", 12'500'000'000);
  EXPECT_EQ(PassOf(costs, streamed).step, absl::Milliseconds(800)) << "the latest counts";
  CostModel after_a_restart;
  after_a_restart.Parse(costs.Serialize());
  EXPECT_EQ(PassOf(after_a_restart, streamed).step, absl::Milliseconds(800));
  EXPECT_FALSE(costs.Predict(streamed).observed) << "nobody is refused for it";
}

TEST(StreamedSteps, AreNotThoughtFasterForStepsOfADeviceThatHoldsAllWeights) {
  const WorkShape streamed = StreamedShape(10'000'000'000, "here");
  CostModel costs;
  TeachSteps(costs, StreamedShape(0, "there"), absl::Milliseconds(50));
  EXPECT_EQ(PassOf(costs, streamed).step, absl::Milliseconds(400));
  EXPECT_GE(PassOf(costs, streamed).step_p90, absl::Milliseconds(400));
}

}  // namespace
}  // namespace reel::front
