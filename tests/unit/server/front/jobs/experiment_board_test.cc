// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/experiment_board.h"

#include <gtest/gtest.h>

#include <cmath>

namespace reel::front {
namespace {

std::vector<ExperimentOptions> OneExperiment() {
  return {{"norms", "", 0.5, {{"old", "auto", 0.5}, {"new", "mine", 0.5}}}};
}

// A finished video of an arm whose steps took so many seconds.
Video StepsOf(const std::string& arm, double seconds, int width = 64) {
  Video video;
  video.state = VideoState::kSucceeded;
  video.spec.model = "ltx";
  video.spec.width = width;
  video.spec.kernels.experiment = "norms";
  video.spec.kernels.arm = arm;
  video.stats.emplace();
  for (int step = 1; step <= 4; ++step) {
    model::PartSpan span;
    span.part = model::RunPart::kDenoise;
    span.step = step;
    span.jobs = 1;
    span.timed = step == 2;
    span.duration = absl::Seconds(step <= 2 ? 50 * seconds : seconds);
    video.stats->spans.push_back(span);
  }
  return video;
}

TEST(SoloStepSeconds, LeavesOutTheFirstStepTimedStepsAndSharedOnes) {
  Video video = StepsOf("old", 0.25);
  EXPECT_DOUBLE_EQ(SoloStepSeconds(*video.stats).value(), 0.25);
  for (model::PartSpan& span : video.stats->spans) span.jobs = 2;
  EXPECT_FALSE(SoloStepSeconds(*video.stats).has_value());
}

TEST(ExperimentBoard, SaysNothingBeforeEachArmHasItsVideos) {
  ExperimentBoard board(OneExperiment());
  for (int i = 0; i < ExperimentBoard::kLeastVideos; ++i) board.Ended(StepsOf("old", 1));
  for (int i = 0; i < ExperimentBoard::kLeastVideos - 1; ++i) board.Ended(StepsOf("new", 2));
  EXPECT_EQ(board.Reports()[0].shapes[0].verdict, ExperimentVerdict::kNotEnoughData);
  board.Ended(StepsOf("new", 2));
  const ExperimentShape shape = board.Reports()[0].shapes[0];
  EXPECT_EQ(shape.verdict, ExperimentVerdict::kSecondSlower);
  EXPECT_NEAR(shape.ratio->value, 2, 1e-9);
}

TEST(ExperimentBoard, FindsTheFasterArmAndNoDifferenceInNoise) {
  ExperimentBoard faster(OneExperiment()), noise(OneExperiment());
  for (int i = 0; i < 40; ++i) {
    const double old = 1 + 0.1 * std::sin(i), other = 1 + 0.1 * std::sin(i + 20);
    faster.Ended(StepsOf("old", old));
    faster.Ended(StepsOf("new", other * 0.8));
    noise.Ended(StepsOf("old", old));
    noise.Ended(StepsOf("new", other));
  }
  EXPECT_EQ(faster.Reports()[0].shapes[0].verdict, ExperimentVerdict::kSecondFaster);
  EXPECT_EQ(noise.Reports()[0].shapes[0].verdict, ExperimentVerdict::kNoDifference);
}

TEST(ExperimentBoard, PoolsTheShapesThatHaveEnoughVideos) {
  ExperimentBoard board(OneExperiment());
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(board.StepRatio("norms").has_value()) << i;
    for (const int width : {64, 128}) {
      const double large = width == 128 ? 5 : 1, noise = 1 + 0.02 * std::sin(i + width);
      board.Ended(StepsOf("old", large * noise, width));
      board.Ended(StepsOf("new", large * 0.8 / noise, width));
    }
  }
  const Ratio both = board.StepRatio("norms").value();
  const Ratio one = board.Reports()[0].shapes[0].ratio.value();
  EXPECT_NEAR(both.value, 0.8, 0.01);
  EXPECT_LT(both.high, 0.85);
  EXPECT_LT(both.high / both.low, one.high / one.low);
  // One with too few says nothing.
  for (int i = 0; i < 19; ++i) {
    board.Ended(StepsOf("old", 1, 256));
    board.Ended(StepsOf("new", 9, 256));
  }
  EXPECT_EQ(board.StepRatio("norms")->value, both.value);
  EXPECT_FALSE(board.StepRatio("another").has_value());
}

TEST(ExperimentBoard, KeepsShapesApartAndTheirNumberBounded) {
  ExperimentBoard board(OneExperiment());
  for (int i = 0; i < 2 * static_cast<int>(ExperimentBoard::kMostShapes); ++i) {
    board.Ended(StepsOf("old", 1, 32 * (i + 1)));
  }
  const ExperimentReport report = board.Reports()[0];
  EXPECT_EQ(report.shapes.size(), ExperimentBoard::kMostShapes);
  EXPECT_EQ(report.arms[0].videos, 2 * static_cast<int64_t>(ExperimentBoard::kMostShapes));
  EXPECT_EQ(report.shapes[0].log_step[0].count(), 1);
}

TEST(ExperimentBoard, CountsFailuresAndNothingOfOthers) {
  ExperimentBoard board(OneExperiment());
  Video failed = StepsOf("new", 1);
  failed.state = VideoState::kFailed;
  board.Ended(failed);
  Video other = StepsOf("new", 1);
  other.spec.kernels.experiment = "-";
  board.Ended(other);
  board.Ended(StepsOf("unknown", 1));
  const ExperimentReport report = board.Reports()[0];
  EXPECT_EQ(report.arms[1].videos, 1);
  EXPECT_EQ(report.arms[1].failed, 1);
  EXPECT_EQ(report.arms[0].videos, 0);
  EXPECT_TRUE(report.shapes.empty());
}

}  // namespace
}  // namespace reel::front
