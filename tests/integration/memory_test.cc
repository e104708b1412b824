// SPDX-License-Identifier: Apache-2.0
// A device's memory: what cannot fit is refused, what does not fit beside others waits, and what
// takes more than was told is tried again alone. The test card pretends to take it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

// SmallSpec's videos have 24 tokens in 48 rows: 24,000 bytes, and 4,800 in a step.
constexpr int64_t kWeights = 100'000, kSmall = 28'800;

std::string ConfigWith(int64_t memory, const std::string& more = "") {
  return absl::StrCat(
      "models { name: 'testcard' test_card { step_time { nanos: 60000000 } memory {",
      " weights: ", kWeights, " per_token: 1000 per_step_row: 100 ", more,
      " } } } workers { name: 'w' device: 'cpu' memory_bytes: ", memory, " }");
}

v1::EstimateVideoResponse Estimate(Calls& calls, const v1::VideoSpec& spec) {
  v1::EstimateVideoRequest request;
  *request.mutable_spec() = spec;
  v1::EstimateVideoResponse estimate;
  grpc::ClientContext context;
  EXPECT_TRUE(calls.videos().EstimateVideo(&context, request, &estimate).ok());
  return estimate;
}

double MemoryBytes(const ReelServer& server, const std::string& kind) {
  return server.Metric("reel_gpu_memory_bytes", absl::StrCat("kind=\"", kind, "\""));
}

TEST(Memory, WhatCanNeverFitIsRefusedWithTheNumbers) {
  ReelServer server({ConfigWith(kWeights + 100'000), {}, "", true});
  Calls calls(server.Connect());
  v1::VideoSpec large = SmallSpec("large");
  large.set_width(256);
  large.set_height(256);  // 128 tokens: 153,600 bytes
  const StreamResult refused = calls.Generate(large);
  EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(refused.reason(), "TOO_LARGE_FOR_DEVICE");
  EXPECT_THAT(refused.status.error_message(),
              ::testing::HasSubstr("needed: 253600, available: 190000"));
  const v1::EstimateVideoResponse estimate = Estimate(calls, large);
  EXPECT_FALSE(estimate.admissible());
  EXPECT_EQ(estimate.peak_memory_bytes(), 153'600);
  EXPECT_EQ(Estimate(calls, SmallSpec("small")).peak_memory_bytes(), kSmall);
  EXPECT_TRUE(calls.Generate(SmallSpec("small")).status.ok());
  EXPECT_EQ(server.Metric("reel_rejections_total", "TOO_LARGE_FOR_DEVICE"), 1);
}

TEST(Memory, JobsThatDoNotFitTogetherWaitForEachOther) {
  // Of ten at a time three fit.
  ReelServer server({ConfigWith((kWeights + 3 * kSmall) * 20 / 19 + 1), {}, "", true});
  Calls calls(server.Connect());
  std::vector<std::string> names;
  for (int i = 0; i < 10; ++i) names.push_back(calls.Create(SmallSpec("fox", i)).name());
  for (const std::string& name : names) {
    const v1::Video video = calls.Await(name);
    EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED) << video.error().message();
    EXPECT_EQ(video.attempt(), 1);
  }
  EXPECT_EQ(server.Metric("reel_gpu_errors_total"), 0);
  const double peak = MemoryBytes(server, "peak");
  EXPECT_GT(peak, kWeights + 2 * kSmall) << "they were to be packed";
  EXPECT_LE(peak, kWeights + 3 * kSmall);
  EXPECT_EQ(MemoryBytes(server, "total"), (kWeights + 3 * kSmall) * 20 / 19 + 1);
  std::cout << "FIGURE of ten jobs at a time " << (peak - kWeights) / kSmall
            << " were in memory that has room for three; out of memory: 0\n";
}

// Small ones, twice as large ones, and those without guidance, all of which take more than is told.
TEST(Memory, DifferentSizesShareMemoryAndStepsByWhatWasLearnedOfEach) {
  constexpr int64_t kTruth = kSmall + 24 * 300;
  constexpr int64_t kRoom = kWeights + 5 * kTruth;
  ReelServer server(
      {ConfigWith(kRoom * 20 / 19 + 1, "untold_per_token: 300"), {}, "", /*metrics=*/true});
  Calls calls(server.Connect());
  const auto sizes = [] {
    std::vector<v1::VideoSpec> specs(3, SmallSpec("mixed"));
    specs[1].set_height(2 * specs[1].height());
    specs[2].set_guidance_scale(1);
    return specs;
  }();
  // Each alone: what it takes is learned.
  for (const v1::VideoSpec& spec : sizes) EXPECT_TRUE(calls.Generate(spec).status.ok());
  EXPECT_EQ(Estimate(calls, sizes[0]).peak_memory_bytes(), kTruth);
  EXPECT_EQ(Estimate(calls, sizes[1]).peak_memory_bytes(), 2 * kTruth);
  EXPECT_EQ(Estimate(calls, sizes[2]).peak_memory_bytes(), kTruth - 24 * 100);
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) names.push_back(calls.Create(sizes[i % 3]).name());
  for (const std::string& name : names) {
    const v1::Video video = calls.Await(name);
    EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED) << video.error().message();
    EXPECT_EQ(video.attempt(), 1);
  }
  const double peak = MemoryBytes(server, "peak") - kWeights;
  EXPECT_GT(peak, 3 * kTruth) << "they were to be packed";
  EXPECT_LE(peak, kRoom - kWeights);
  EXPECT_EQ(server.Metric("reel_gpu_errors_total"), 0);
  std::cout << "FIGURE different sizes filled " << peak / (kRoom - kWeights)
            << " of the memory that is given out; out of memory: 0\n";
}

TEST(Memory, WhatTakesMoreThanWasToldIsTriedAgainAndLearned) {
  // By the formula three fit; in truth one.
  ReelServer server({ConfigWith(2 * kWeights, "untold_per_token: 1500"), {}, "", true});
  Calls calls(server.Connect());
  const auto round = [&](int attempts) {
    std::vector<std::string> names;
    for (int i = 0; i < 6; ++i) names.push_back(calls.Create(SmallSpec("fox", i)).name());
    for (const std::string& name : names) {
      const v1::Video video = calls.Await(name);
      EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED) << video.error().message();
      EXPECT_LE(video.attempt(), attempts);
    }
  };
  round(2);
  EXPECT_GE(Estimate(calls, SmallSpec("fox")).peak_memory_bytes(), kSmall + 24 * 1500);
  const double restarts = server.Metric("reel_restarted_jobs_total");
  round(1);
  EXPECT_EQ(server.Metric("reel_restarted_jobs_total"), restarts) << "it was to be learned";
  EXPECT_EQ(server.Metric("reel_worker_restarts_total"), 0);
}

TEST(Memory, OutOfItAloneTheJobFailsAndTheNextIsServed) {
  ReelServer server({ConfigWith(kWeights + 200'000, "untold_per_token: 1000"), {}, "", true});
  Calls calls(server.Connect());
  v1::VideoSpec large = SmallSpec("too much");  // 128 tokens: 153,600 bytes, and 128,000 more
  large.set_width(256);
  large.set_height(256);
  const StreamResult failed = calls.Generate(large);
  EXPECT_EQ(failed.status.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(failed.reason(), "OUT_OF_DEVICE_MEMORY");
  EXPECT_EQ(calls.Generate(large).reason(), "TOO_LARGE_FOR_DEVICE");
  const StreamResult fine = calls.Generate(SmallSpec("small"));
  EXPECT_TRUE(fine.status.ok()) << fine.status.error_message();
  EXPECT_EQ(server.Metric("reel_gpu_errors_total", "oom"), 1);
  EXPECT_EQ(server.Metric("reel_worker_restarts_total"), 0);
  EXPECT_TRUE(Eventually([&] { return MemoryBytes(server, "allocated") == kWeights; }));
}

}  // namespace
}  // namespace reel::tests
