// SPDX-License-Identifier: Apache-2.0
#include "server/front/metrics/worker_metrics.h"

#include <gtest/gtest.h>

#include "server/front/metrics/metrics.h"
#include "tests/unit/server/front/metrics/scrape.h"

namespace reel::front {
namespace {

WorkerInfo Gpu(WorkerState state) {
  WorkerInfo worker;
  worker.name = "cuda0";
  worker.device = "cuda:0 NVIDIA H200";
  worker.state = state;
  worker.compute_capability = 90;
  worker.memory = {.total = 9, .held = 7, .reserved = 6, .in_use = 4, .kept = 1, .most = 5};
  worker.versions = {{"torch", "2.11"}, {"cuda", "13.0"}};
  return worker;
}

TEST(WorkerMetrics, FollowsAWorker) {
  Metrics metrics({"1", "r", {}, {}});
  metrics.jobs().WorkerChanged(Gpu(WorkerState::kStarting));
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_worker_up{device=\"cuda0\"}"), 0);
  metrics.jobs().WorkerChanged(Gpu(WorkerState::kReady));
  metrics.jobs().WorkerLost("cuda0", LossCause::kSticky);
  const std::string text = metrics.Text();
  EXPECT_EQ(ValueOf(text, "reel_worker_up{device=\"cuda0\"}"), 1);
  EXPECT_EQ(ValueOf(text,
                    "reel_worker_info{arch=\"90\",cuda=\"13.0\",device=\"cuda0\","
                    "gpu=\"cuda:0 NVIDIA H200\",torch=\"2.11\"}"),
            1);
  const auto memory = [&](const std::string& kind) {
    return ValueOf(text, "reel_gpu_memory_bytes{device=\"cuda0\",kind=\"" + kind + "\"}");
  };
  EXPECT_EQ(memory("total"), 9);
  EXPECT_EQ(memory("used"), 7);
  EXPECT_EQ(memory("reserved"), 6);
  EXPECT_EQ(memory("allocated"), 4);
  EXPECT_EQ(memory("peak"), 5);
  EXPECT_EQ(memory("kept"), 1);
  EXPECT_EQ(ValueOf(text, "reel_worker_restarts_total{device=\"cuda0\",reason=\"sticky\"}"), 1);
  EXPECT_EQ(ValueOf(text, "reel_worker_restarts_total{device=\"cuda0\",reason=\"killed\"}"), 0);
  EXPECT_EQ(ValueOf(text, "reel_gpu_errors_total{device=\"cuda0\",kind=\"sticky\"}"), 1);
}

TEST(WorkerMetrics, HasTheSpeedOfALinkThatWasMeasured) {
  Metrics metrics({"1", "r", {}, {}});
  WorkerInfo gpu = Gpu(WorkerState::kReady);
  metrics.jobs().WorkerChanged(gpu);
  EXPECT_EQ(metrics.Text().find("reel_gpu_copy_bytes_per_second{"), std::string::npos);
  gpu.copy_bytes_per_second = 55'000'000'000;
  metrics.jobs().WorkerChanged(gpu);
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_gpu_copy_bytes_per_second{device=\"cuda0\"}"), 55e9);
}

TEST(WorkerMetrics, CountModelsThatComeAndMakeWay) {
  Metrics metrics({"1", "r", {}, {}});
  metrics.jobs().WorkerChanged(Gpu(WorkerState::kReady));
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_model_loads_total{device=\"cuda0\"}"), 0);
  metrics.jobs().ModelLoaded("cuda0");
  metrics.jobs().ModelLoaded("cuda0");
  metrics.jobs().ModelPutOut("cuda0");
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_model_loads_total{device=\"cuda0\"}"), 2);
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_model_put_outs_total{device=\"cuda0\"}"), 1);
}

TEST(WorkerMetrics, EnergyIsThereOnceADeviceTellsIt) {
  Metrics metrics({"1", "r", {}, {}});
  metrics.jobs().WorkerChanged(Gpu(WorkerState::kReady));
  EXPECT_EQ(metrics.Text().find("reel_gpu_energy_joules_total{"), std::string::npos);
  metrics.jobs().EnergyTaken("cuda0", 70.5);
  metrics.jobs().EnergyTaken("cuda0", 0.5);
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_gpu_energy_joules_total{device=\"cuda0\"}"), 71);
}

TEST(WorkerMetrics, TellWhyADeviceIsOut) {
  Metrics metrics({"1", "r", {}, {}});
  const auto out = [&](const std::string& reason) {
    return ValueOf(metrics.Text(), "reel_worker_out{device=\"cuda0\",reason=\"" + reason + "\"}");
  };
  WorkerInfo worker = Gpu(WorkerState::kOut);
  worker.out = OutReason::kDevice;
  metrics.jobs().WorkerLost("cuda0", LossCause::kDevice);
  metrics.jobs().WorkerChanged(worker);
  EXPECT_EQ(out("device"), 1);
  EXPECT_EQ(out("faults"), 0);
  EXPECT_EQ(out("no_model"), 0);
  const std::string text = metrics.Text();
  EXPECT_EQ(ValueOf(text, "reel_worker_restarts_total{device=\"cuda0\",reason=\"device\"}"), 1);
  EXPECT_EQ(ValueOf(text, "reel_gpu_errors_total{device=\"cuda0\",kind=\"lost\"}"), 1);
  metrics.jobs().WorkerChanged(Gpu(WorkerState::kStarting));
  EXPECT_EQ(out("device"), 0);
}

TEST(WorkerMetrics, AnotherBuildReplacesTheInfo) {
  Metrics metrics({"1", "r", {}, {}});
  metrics.jobs().WorkerChanged(Gpu(WorkerState::kReady));
  WorkerInfo other = Gpu(WorkerState::kReady);
  other.versions[0].second = "2.12";
  metrics.jobs().WorkerChanged(other);
  const std::string text = metrics.Text();
  EXPECT_EQ(text.find("torch=\"2.11\""), std::string::npos);
  EXPECT_NE(text.find("torch=\"2.12\""), std::string::npos);
}

TEST(WorkerMetrics, TextsAreCountedFromNoughtOn) {
  Metrics metrics({"1", "r", {}, {}});
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_prompt_cache_hits_total"), 0);
  metrics.jobs().PromptsRead({.remembered = 3, .encoded = 2});
  metrics.jobs().PromptsRead({.remembered = 1});
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_prompt_cache_hits_total"), 4);
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_prompt_cache_misses_total"), 2);
}

TEST(WorkerMetrics, AdaptersAreCountedByTheirModelsAndTimed) {
  Metrics metrics({"1", "r", {}, {}});
  metrics.jobs().AdaptersUploaded("ltx", {});
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_adapter_upload_seconds_count"), 0);
  metrics.jobs().AdaptersUploaded("ltx", {.uploaded = 2, .nanoseconds = 500'000'000});
  metrics.jobs().AdaptersUploaded("ltx", {.refused = 1});
  const std::string text = metrics.Text();
  EXPECT_EQ(ValueOf(text, "reel_adapter_uploads_total{model=\"ltx\",outcome=\"ok\"}"), 2);
  EXPECT_EQ(ValueOf(text, "reel_adapter_uploads_total{model=\"ltx\",outcome=\"refused\"}"), 1);
  EXPECT_EQ(ValueOf(text, "reel_adapter_upload_seconds_count"), 2);
  EXPECT_EQ(ValueOf(text, "reel_adapter_upload_seconds_sum"), 0.5);
}

TEST(WorkerMetrics, ModelsHoldWhatTheirDeviceSaidLastAndNothingOnceItIsLost) {
  Metrics metrics({"1", "r", {}, {}});
  const auto bytes = [&] {
    return ValueOf(metrics.Text(), "reel_adapter_device_bytes{device=\"cuda0\"}");
  };
  metrics.jobs().WorkerChanged(Gpu(WorkerState::kReady));
  EXPECT_EQ(bytes(), 0);
  metrics.jobs().WorkerHolds("cuda0", {.adapters = 4096, .host_weights = 9});
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_weights_host_bytes{device=\"cuda0\"}"), 9);
  metrics.jobs().WorkerHolds("cuda1", {.adapters = 512});
  EXPECT_EQ(bytes(), 4096);
  metrics.jobs().WorkerHolds("cuda0", {.adapters = 0});
  EXPECT_EQ(bytes(), 0);
  metrics.jobs().WorkerHolds("cuda0", {.adapters = 1024});
  metrics.jobs().WorkerLost("cuda0", LossCause::kExit);
  EXPECT_EQ(bytes(), 0);
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_weights_host_bytes{device=\"cuda0\"}"), 0);
}

TEST(WorkerMetrics, StepsAreMeasuredAndSampledOnesByKernel) {
  Metrics metrics({"1", "r", {}, {}});
  StepSample step;
  step.jobs = {"a", "b"};
  step.rows = 3000;
  step.duration = absl::Milliseconds(22);
  metrics.jobs().Stepped("cpu", step);
  step.kernels = {{"rms_norm", "loops", 4, 400'000}};
  metrics.jobs().Stepped("cpu", step);
  step.kernels.clear();
  step.stage = model::Stage::kDecode;
  metrics.jobs().Stepped("cpu", step);
  const std::string text = metrics.Text();
  EXPECT_EQ(ValueOf(text, "reel_denoise_step_duration_seconds_count{device=\"cpu\"}"), 2);
  EXPECT_EQ(ValueOf(text, "reel_denoise_step_duration_seconds_bucket{device=\"cpu\",le=\"0.025\"}"),
            2);
  EXPECT_EQ(ValueOf(text, "reel_step_batch_rows_bucket{le=\"4096\"}"), 2);
  EXPECT_EQ(ValueOf(text, "reel_step_batch_jobs_sum"), 4);
  EXPECT_EQ(ValueOf(text, "reel_kernel_sampled_steps_total{device=\"cpu\"}"), 1);
  EXPECT_DOUBLE_EQ(
      ValueOf(text, "reel_kernel_duration_seconds_sum{op=\"rms_norm\",variant=\"loops\"}"), 1e-4);
  // Of 44 ms of steps: the one that was not timed is taken to be like the other.
  const auto estimated = [&](const std::string& labels) {
    return ValueOf(text, "reel_kernel_estimated_seconds_total{" + labels + "}");
  };
  EXPECT_NEAR(estimated("op=\"rms_norm\",stage=\"denoise\",variant=\"loops\""), 8e-4, 1e-9);
  EXPECT_NEAR(estimated("op=\"gaps\",stage=\"denoise\",variant=\"\""), 0.0432, 1e-9);
  EXPECT_NEAR(ValueOf(text, "reel_gpu_busy_seconds_total{device=\"cpu\"}"), 0.066, 1e-9);
}

}  // namespace
}  // namespace reel::front
