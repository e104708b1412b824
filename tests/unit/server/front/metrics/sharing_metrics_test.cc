// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "server/front/metrics/metrics.h"
#include "server/front/metrics/worker_metrics.h"
#include "tests/unit/server/front/metrics/scrape.h"

namespace reel::front {
namespace {

StepSample SharedStep() {
  StepSample step;
  step.jobs = {"a", "b", "c"};
  step.model = "ltx";
  step.plan = "fp8";
  step.duration = absl::Milliseconds(20);
  step.apart = absl::Milliseconds(30);
  return step;
}

TEST(SharingMetrics, TellWhatSharingGains) {
  Metrics metrics({"1", "r", {}, {}});
  StepSample step = SharedStep();
  metrics.jobs().Stepped("cuda0", step);
  step.plan = "fp8+rms_norm=generic";  // callers make plans; their profile is the label
  metrics.jobs().Stepped("cuda0", step);
  const std::string labels = "{device=\"cuda0\",model=\"ltx\",profile=\"fp8\"}";
  const std::string text = metrics.Text();
  EXPECT_DOUBLE_EQ(ValueOf(text, "reel_shared_step_seconds_total" + labels), 0.04);
  EXPECT_DOUBLE_EQ(ValueOf(text, "reel_shared_step_apart_seconds_total" + labels), 0.06);
  EXPECT_EQ(text.find("reel_step_left_out_jobs_total{"), std::string::npos);
}

TEST(SharingMetrics, AStepOfWhichNothingIsKnownDoesNotCount) {
  Metrics metrics({"1", "r", {}, {}});
  StepSample step = SharedStep();
  step.apart = absl::ZeroDuration();
  metrics.jobs().Stepped("cuda0", step);
  step = SharedStep();
  step.jobs = {"a"};
  metrics.jobs().Stepped("cuda0", step);
  step = SharedStep();
  step.stage = model::Stage::kDecode;
  metrics.jobs().Stepped("cuda0", step);
  EXPECT_EQ(metrics.Text().find("reel_shared_step_seconds_total{"), std::string::npos);
}

TEST(SharingMetrics, CountWhoIsKeptApart) {
  Metrics metrics({"1", "r", {}, {}});
  StepSample step = SharedStep();
  step.jobs = {"a"};
  step.left_out = 2;
  metrics.jobs().Stepped("cuda0", step);
  metrics.jobs().Stepped("cuda0", step);
  EXPECT_EQ(
      ValueOf(metrics.Text(),
              "reel_step_left_out_jobs_total{device=\"cuda0\",model=\"ltx\",profile=\"fp8\"}"),
      4);
}

TEST(SharingMetrics, AddUpWhatStreamsForSteps) {
  Metrics metrics({"1", "r", {}, {}});
  StepSample step = SharedStep();
  metrics.jobs().Stepped("cuda0", step);
  EXPECT_EQ(metrics.Text().find("reel_weights_streamed_bytes_total{"), std::string::npos);
  step.streamed_bytes = 1024;
  metrics.jobs().Stepped("cuda0", step);
  metrics.jobs().Stepped("cuda0", step);
  EXPECT_EQ(
      ValueOf(metrics.Text(),
              "reel_weights_streamed_bytes_total{device=\"cuda0\",model=\"ltx\",profile=\"fp8\"}"),
      2048);
}

TEST(SharingMetrics, TellHowLongStepsWaitForWhatStreams) {
  Metrics metrics({"1", "r", {}, {}});
  StepSample step = SharedStep();
  const auto stall = [&] {
    return ValueOf(
        metrics.Text(),
        "reel_weights_stall_seconds_total{device=\"cuda0\",model=\"ltx\",profile=\"fp8\"}");
  };
  step.duration = absl::Seconds(2);
  metrics.jobs().Stepped("cuda0", step);
  step.kernels = {{"linear", "aten", 4, 600'000'000}, {"weights", "stream", 8, 500'000'000}};
  metrics.jobs().Stepped("cuda0", step);
  // The step that was not timed is taken to be like the other.
  EXPECT_DOUBLE_EQ(stall(), 1);
  // Those of texts are told by their operator alone.
  step.stage = model::Stage::kTextEncode;
  metrics.jobs().Stepped("cuda0", step);
  EXPECT_DOUBLE_EQ(stall(), 1);
}

}  // namespace
}  // namespace reel::front
