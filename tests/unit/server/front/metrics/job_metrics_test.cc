// SPDX-License-Identifier: Apache-2.0
#include "server/front/metrics/job_metrics.h"

#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "server/front/metrics/metrics.h"
#include "tests/unit/server/front/metrics/scrape.h"

namespace reel::front {
namespace {

Video Ended(VideoState state) {
  Video video;
  video.tenant = "blue";
  video.state = state;
  video.spec.kernels.profile = "auto";
  video.spec.num_frames = 49;
  video.create_time = absl::FromUnixSeconds(100);
  video.end_time = absl::FromUnixSeconds(103);
  video.media.size_bytes = 1000;
  video.worker = "cpu";
  return video;
}

std::string Requests(const char* mode, const char* outcome) {
  return std::string("reel_requests_total{mode=\"") + mode + "\",outcome=\"" + outcome +
         "\",profile=\"auto\"}";
}

TEST(JobMetrics, ASuccessCountsFramesBytesAndStages) {
  Metrics metrics({"1", "r", {"auto"}, {"blue"}});
  Video video = Ended(VideoState::kSucceeded);
  video.stats.emplace();
  video.stats->parts = {{model::RunPart::kWait, absl::Milliseconds(100)},
                        {model::RunPart::kDenoise, absl::Milliseconds(700)},
                        {model::RunPart::kSound, absl::Milliseconds(40)},
                        {model::RunPart::kFile, absl::Milliseconds(160)}};
  video.media.sample_rate = 48'000;
  video.media.duration = absl::Seconds(2);
  video.stats->device_seconds = 1.5;
  metrics.jobs().JobEnded(video, false);
  const std::string text = metrics.Text();
  EXPECT_EQ(ValueOf(text, Requests("stream", "ok")), 1);
  EXPECT_EQ(ValueOf(text, "reel_frames_total"), 49);
  EXPECT_EQ(ValueOf(text, "reel_output_bytes_total"), 1000);
  EXPECT_EQ(ValueOf(text, "reel_request_duration_seconds_sum{mode=\"stream\"}"), 3);
  EXPECT_EQ(ValueOf(text, "reel_request_duration_seconds_count{mode=\"async\"}"), 0);
  EXPECT_DOUBLE_EQ(ValueOf(text, "reel_stage_duration_seconds_sum{stage=\"denoise\"}"), 0.7);
  EXPECT_DOUBLE_EQ(ValueOf(text, "reel_stage_duration_seconds_sum{stage=\"sound\"}"), 0.04);
  EXPECT_EQ(ValueOf(text, "reel_sound_seconds_total"), 2);
  EXPECT_NEAR(ValueOf(text, "reel_stage_duration_seconds_sum{stage=\"other\"}"), 0.26, 1e-9);
  EXPECT_EQ(ValueOf(text, "reel_stage_duration_seconds_count{stage=\"decode\"}"), 1);
  EXPECT_EQ(ValueOf(text, "reel_tenant_gpu_seconds_total{tenant=\"blue\"}"), 1.5);
  EXPECT_EQ(ValueOf(text, "reel_tenant_gpu_seconds_total{tenant=\"other\"}"), 0);
}

TEST(JobMetrics, JobsAreCountedByTheAdaptersThatTheyNamedUpToABound) {
  Metrics metrics({"1", "r", {"auto"}, {}});
  Video video = Ended(VideoState::kFailed);
  video.spec.adapters = {{"grain", 1}, {"turn", 0.5}};
  metrics.jobs().JobEnded(video, false);
  for (int i = 0; i < 40; ++i) {
    video.spec.adapters = {{"grain", 1}, {"a" + std::to_string(i), 1}};
    metrics.jobs().JobEnded(video, true);
  }
  const std::string text = metrics.Text();
  EXPECT_EQ(ValueOf(text, "reel_adapter_jobs_total{adapter=\"grain\"}"), 41);
  EXPECT_EQ(ValueOf(text, "reel_adapter_jobs_total{adapter=\"turn\"}"), 1);
  EXPECT_EQ(ValueOf(text, "reel_adapter_jobs_total{adapter=\"a29\"}"), 1);
  EXPECT_EQ(ValueOf(text, "reel_adapter_jobs_total{adapter=\"other\"}"), 10);
}

TEST(JobMetrics, EndsAreToldApart) {
  Metrics metrics({"1", "r", {"auto"}, {}});
  Video late = Ended(VideoState::kFailed);
  late.error = MakeError(Reason::kDeadlinePassed, "x");
  metrics.jobs().JobEnded(late, true);
  Video left = Ended(VideoState::kCancelled);
  left.error = MakeError(Reason::kOwnerLeft, "x");
  metrics.jobs().JobEnded(left, true);
  Video bad = Ended(VideoState::kFailed);
  bad.error = MakeError(Reason::kNumericalFault, "x");
  metrics.jobs().JobEnded(bad, true);
  const std::string text = metrics.Text();
  EXPECT_EQ(ValueOf(text, Requests("async", "deadline")), 1);
  EXPECT_EQ(ValueOf(text, Requests("async", "cancelled")), 1);
  EXPECT_EQ(ValueOf(text, Requests("async", "failed")), 1);
  EXPECT_EQ(ValueOf(text, Requests("async", "ok")), 0);
  EXPECT_EQ(ValueOf(text, "reel_frames_total"), 0);
  EXPECT_EQ(ValueOf(text, "reel_gpu_errors_total{device=\"cpu\",kind=\"nan\"}"), 1);
}

TEST(JobMetrics, ShowsTheQueue) {
  Metrics metrics({"1", "r", {}, {}});
  metrics.jobs().Gauges({3, 2, 4.5, 120, 60, 1000, 5000, 700, 4, 1, 0, {}, {}});
  metrics.jobs().JobStarted(Ended(VideoState::kRunning), absl::Seconds(2));
  metrics.jobs().JobRestarted();
  metrics.jobs().JobPreempted();
  metrics.jobs().CancelDone(absl::Milliseconds(30));
  metrics.SetDraining(true);
  const std::string text = metrics.Text();
  EXPECT_EQ(ValueOf(text, "reel_queue_depth"), 3);
  EXPECT_EQ(ValueOf(text, "reel_inflight_requests"), 2);
  EXPECT_EQ(ValueOf(text, "reel_queue_backlog_seconds"), 4.5);
  EXPECT_EQ(ValueOf(text, "reel_queue_capacity_seconds"), 120);
  EXPECT_EQ(ValueOf(text, "reel_queue_device_capacity_seconds"), 60);
  EXPECT_EQ(ValueOf(text, "reel_result_store_bytes"), 1000);
  EXPECT_EQ(ValueOf(text, "reel_result_store_limit_bytes"), 5000);
  EXPECT_EQ(ValueOf(text, "reel_kept_state_bytes"), 700);
  EXPECT_EQ(ValueOf(text, "reel_kept_states"), 4);
  EXPECT_EQ(ValueOf(text, "reel_expired_states"), 1);
  EXPECT_EQ(ValueOf(text, "reel_queue_duration_seconds_sum{priority=\"normal\"}"), 2);
  EXPECT_EQ(ValueOf(text, "reel_restarted_jobs_total"), 1);
  EXPECT_EQ(ValueOf(text, "reel_preemptions_total"), 1);
  EXPECT_EQ(ValueOf(text, "reel_cancel_duration_seconds_count"), 1);
  EXPECT_EQ(ValueOf(text, "reel_draining"), 1);
}

TEST(JobMetrics, CountsWhatCameOfStatesAndHowNearTenantsAreToTheirLimits) {
  Metrics metrics({"1", "r", {}, {"anna"}});
  metrics.jobs().StateEnded(StateEnd::kKept);
  metrics.jobs().StateEnded(StateEnd::kNoRoom);
  metrics.jobs().StateEnded(StateEnd::kNoRoom);
  QueueGauges gauges;
  gauges.damaged_states = 3;
  gauges.tenants = {{"anna", 900, 1000}, {"stranger", 1, 2}};
  metrics.jobs().Gauges(gauges);
  metrics.jobs().Gauges(gauges);
  const std::string text = metrics.Text();
  EXPECT_EQ(ValueOf(text, "reel_states_total{result=\"kept\"}"), 1);
  EXPECT_EQ(ValueOf(text, "reel_states_total{result=\"no_room\"}"), 2);
  EXPECT_EQ(ValueOf(text, "reel_states_total{result=\"too_large\"}"), 0);
  EXPECT_EQ(ValueOf(text, "reel_damaged_states_total"), 3);
  EXPECT_EQ(ValueOf(text, "reel_tenant_stored_bytes{tenant=\"anna\"}"), 900);
  EXPECT_EQ(ValueOf(text, "reel_tenant_stored_limit_bytes{tenant=\"anna\"}"), 1000);
  EXPECT_EQ(ValueOf(text, "reel_tenant_stored_bytes{tenant=\"stranger\"}"), -1);
}

TEST(JobMetrics, EstimatesAreJudged) {
  Metrics metrics({"1", "r", {}, {}});
  metrics.jobs().EstimateChecked(absl::Seconds(9), absl::Seconds(10), true);
  metrics.jobs().EstimateChecked(absl::Seconds(30), absl::Seconds(10), false);
  metrics.jobs().EstimateChecked(absl::Seconds(1), absl::ZeroDuration(), true);
  const std::string text = metrics.Text();
  EXPECT_EQ(ValueOf(text, "reel_estimate_within_p90_total{result=\"within\"}"), 2);
  EXPECT_EQ(ValueOf(text, "reel_estimate_within_p90_total{result=\"above\"}"), 1);
  EXPECT_EQ(ValueOf(text, "reel_estimate_error_ratio_bucket{le=\"0.15\"}"), 1);
  EXPECT_EQ(ValueOf(text, "reel_estimate_error_ratio_count"), 2);
}

TEST(JobMetrics, TimesLeftAreHeldAgainstWhatCame) {
  Metrics metrics({"1", "r", {}, {}});
  metrics.jobs().TimeLeftChecked(absl::Seconds(8), absl::Seconds(10));
  metrics.jobs().TimeLeftChecked(absl::Seconds(10.4), absl::Seconds(10));
  metrics.jobs().TimeLeftChecked(absl::Seconds(1), absl::ZeroDuration());
  const std::string text = metrics.Text();
  EXPECT_EQ(ValueOf(text, "reel_eta_error_ratio_count"), 2);
  EXPECT_EQ(ValueOf(text, "reel_eta_error_ratio_bucket{le=\"0.05\"}"), 1);
  EXPECT_EQ(ValueOf(text, "reel_eta_error_ratio_bucket{le=\"0.25\"}"), 2);
}

TEST(JobMetrics, TenantsBeyondTheLimitShareALabel) {
  std::vector<std::string> tenants;
  for (int i = 0; i < 40; ++i) tenants.push_back("t" + std::to_string(i));
  Metrics metrics({"1", "r", {}, tenants});
  Video video = Ended(VideoState::kSucceeded);
  video.stats.emplace();
  video.stats->device_seconds = 2;
  video.tenant = "t39";
  metrics.jobs().JobEnded(video, false);
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_tenant_gpu_seconds_total{tenant=\"other\"}"), 2);
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_tenant_gpu_seconds_total{tenant=\"t39\"}"), -1);
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_tenant_gpu_seconds_total{tenant=\"t15\"}"), 0);
}

}  // namespace
}  // namespace reel::front
