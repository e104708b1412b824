// SPDX-License-Identifier: Apache-2.0
#include "server/front/metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "tests/unit/server/front/metrics/scrape.h"

namespace reel::front {
namespace {

Metrics& Busy() {
  static Metrics metrics({"1.2.3", "abc", {"auto", "reference", "mine"}, {"blue", "red"}});
  WorkerInfo worker;
  worker.name = "cuda0";
  worker.device = "cuda:0 \"quoted\"";
  metrics.jobs().WorkerChanged(worker);
  for (int i = 0; i < 20; ++i) {
    StepSample step;
    step.kernels = {{"op" + std::to_string(i), "generic", 1, 1000}};
    metrics.jobs().Stepped("cuda0", step);
  }
  return metrics;
}

TEST(Metrics, TheBuildIsTold) {
  EXPECT_EQ(ValueOf(Busy().Text(), "reel_build_info{revision=\"abc\",version=\"1.2.3\"}"), 1);
}

TEST(Metrics, StaysBelowAThousandSeriesWithADeviceAndTwentyKernels) {
  const std::string text = Busy().Text();
  // As Prometheus counts them: buckets are series too.
  const auto lines = std::count(text.begin(), text.end(), '\n');
  const auto comments = std::count(text.begin(), text.end(), '#');
  EXPECT_LE(lines - comments, 1200);
}

TEST(Metrics, TheEndOfACertificateIsThereOnceThereIsOne) {
  Metrics metrics({"1", "r", {}, {}});
  EXPECT_THAT(metrics.Text(), ::testing::Not(::testing::HasSubstr("certificate_expiry")));
  metrics.SetCertificateEnd(absl::FromUnixSeconds(1'800'000'000));
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_tls_certificate_expiry_timestamp_seconds"),
            1'800'000'000);
  metrics.SetCertificateEnd(absl::FromUnixSeconds(1'900'000'000));
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_tls_certificate_expiry_timestamp_seconds"),
            1'900'000'000);
}

TEST(Metrics, ErrorsOfGpusAreThereByClassOnceTheirLogIsRead) {
  Metrics metrics({"1", "r", {}, {}});
  EXPECT_THAT(metrics.Text(), ::testing::Not(::testing::HasSubstr("reel_gpu_xids_total{")));
  for (const XidClass what : kXidClasses) metrics.CountXids(what, 0);
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_gpu_xids_total{class=\"link\"}"), 0);
  metrics.CountXids(XidClass::kMemory, 1);
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_gpu_xids_total{class=\"memory\"}"), 1);
}

TEST(Metrics, MissesOfTheSelfCheckAreCountedFromNought) {
  Metrics metrics({"1", "r", {}, {}});
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_self_check_misses_total"), 0);
  metrics.CountSelfCheckMiss();
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_self_check_misses_total"), 1);
}

TEST(Metrics, KernelsWithoutEndAreFolded) {
  Metrics metrics({"1", "r", {}, {}});
  for (int i = 0; i < 500; ++i) {
    StepSample step;
    step.kernels = {{"op" + std::to_string(i), "generic", 1, 1000}};
    metrics.jobs().Stepped("cpu", step);
  }
  const std::string text = metrics.Text();
  EXPECT_EQ(ValueOf(text, "reel_kernel_duration_seconds_count{op=\"other\",variant=\"other\"}"),
            440);
  EXPECT_EQ(
      ValueOf(text, "reel_metric_series_dropped_total{family=\"reel_kernel_duration_seconds\"}"),
      440);
}

// The tool that operators would use.
TEST(Metrics, PromtoolFindsNothing) {
  const char* source = std::getenv("REEL_SOURCE");
  const std::string tool = std::string(source == nullptr ? "." : source) + "/.deps/bin/promtool";
  if (access(tool.c_str(), X_OK) != 0) GTEST_SKIP() << "promtool is not set up: " << tool;
  const std::string path = testing::TempDir() + "/metrics_test_scrape";
  std::ofstream(path) << Busy().Text();
  EXPECT_EQ(std::system((tool + " check metrics < " + path).c_str()), 0);
}

}  // namespace
}  // namespace reel::front
