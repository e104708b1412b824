// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "server/front/metrics/job_metrics.h"
#include "server/front/metrics/metrics.h"
#include "tests/unit/server/front/metrics/scrape.h"

namespace reel::front {
namespace {

TEST(ExperimentMetrics, CountArmsByOutcomeFromTheStart) {
  Metrics metrics({"1", "r", {"auto"}, {}, {{"norms", "old"}, {"norms", "new"}}});
  const std::string failed =
      "reel_experiment_requests_total{arm=\"new\",experiment=\"norms\",outcome=\"failed\"}";
  const std::string ok =
      "reel_experiment_requests_total{arm=\"old\",experiment=\"norms\",outcome=\"ok\"}";
  EXPECT_EQ(ValueOf(metrics.Text(), failed), 0);
  Video video;
  video.state = VideoState::kSucceeded;
  video.spec.num_inference_steps = 8;
  video.spec.kernels.experiment = "norms";
  video.spec.kernels.arm = "old";
  video.stats.emplace();
  video.stats->denoise = absl::Seconds(2);
  metrics.jobs().JobEnded(video, false);
  video.state = VideoState::kFailed;
  video.spec.kernels.arm = "new";
  metrics.jobs().JobEnded(video, false);
  video.spec.kernels.experiment = "-";
  metrics.jobs().JobEnded(video, false);
  const std::string text = metrics.Text();
  EXPECT_EQ(ValueOf(text, ok), 1);
  EXPECT_EQ(ValueOf(text, failed), 1);
  const std::string labels = "{arm=\"old\",experiment=\"norms\"}";
  EXPECT_EQ(ValueOf(text, "reel_experiment_step_seconds_total" + labels), 2);
  EXPECT_EQ(ValueOf(text, "reel_experiment_steps_total" + labels), 8);
  EXPECT_EQ(ValueOf(text, "reel_experiment_steps_total{arm=\"new\",experiment=\"norms\"}"), 0);
}

TEST(ExperimentMetrics, TellARatioOnceThereIsOne) {
  Metrics metrics({"1", "r", {"auto"}, {}, {{"norms", "old"}, {"norms", "new"}}});
  EXPECT_EQ(metrics.Text().find("reel_experiment_step_ratio{"), std::string::npos);
  metrics.jobs().StepsCompared("norms", {0.8, 0.7, 0.9});
  metrics.jobs().StepsCompared("norms", {0.75, 0.7, 0.8});
  metrics.jobs().StepsCompared("of another configuration", {2, 1, 3});
  const std::string text = metrics.Text();
  const auto bound = [&](const std::string& name) {
    return ValueOf(text, "reel_experiment_step_ratio{arm=\"new\",bound=\"" + name +
                             "\",experiment=\"norms\"}");
  };
  EXPECT_EQ(bound("estimate"), 0.75);
  EXPECT_EQ(bound("low"), 0.7);
  EXPECT_EQ(bound("high"), 0.8);
  EXPECT_EQ(text.find("of another configuration"), std::string::npos);
}

TEST(ExperimentMetrics, CountShadowRendersFromNoughtOn) {
  Metrics metrics({"1", "r", {"auto"}, {}, {{"norms", "old"}, {"norms", "new"}}});
  const auto ended = [&](const std::string& outcome) {
    return ValueOf(metrics.Text(), "reel_experiment_shadows_total{experiment=\"norms\",outcome=\"" +
                                       outcome + "\"}");
  };
  EXPECT_EQ(ended("differs"), 0);
  metrics.jobs().ShadowEnded({"norms", ShadowOutcome::kDiffers, 41, 0.9, std::nullopt});
  metrics.jobs().ShadowEnded({"norms", ShadowOutcome::kIdentical, 0, 1, std::nullopt});
  metrics.jobs().ShadowEnded({"norms", ShadowOutcome::kGivenUp, 0, 1, std::nullopt});
  metrics.jobs().ShadowEnded({"of another configuration", ShadowOutcome::kFailed, 0, 1, {}});
  EXPECT_EQ(ended("differs"), 1);
  EXPECT_EQ(ended("identical"), 1);
  EXPECT_EQ(ended("given_up"), 1);
  EXPECT_EQ(ended("failed"), 0);
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_experiment_shadow_psnr_db_sum{experiment=\"norms\"}"),
            41);
}

}  // namespace
}  // namespace reel::front
