// SPDX-License-Identifier: Apache-2.0
// The lossy profile "cache" by the real programs, on ltx-demo: what it says of itself, how far its
// videos are from exact ones, and how long its steps take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <map>

#include "absl/strings/str_cat.h"
#include "server/convert/proto_duration.h"
#include "tests/fakes/decoded_video.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kSteps = 20;

class CacheTest : public ::testing::Test {
 protected:
  static ServerSetup WithDemo() {
    ServerSetup setup;
    setup.config = absl::StrCat("models { name: 'demo' path: '", std::getenv("REEL_SOURCE"),
                                "/model/demo/weights' dtype: 'fp32' } "
                                "kernel_profiles { name: 'quick' base: 'cache' }");
    return setup;
  }
  static v1::VideoSpec Spec(const std::string& profile, uint64_t seed = 1) {
    v1::VideoSpec spec;
    spec.set_prompt("a big red circle bouncing");
    spec.set_width(128);
    spec.set_height(128);
    spec.set_num_frames(25);
    spec.set_num_inference_steps(kSteps);
    spec.set_seed(seed);
    spec.mutable_kernels()->set_profile(profile);
    spec.mutable_encoding()->set_crf(0);  // what is decoded is what was encoded
    return spec;
  }
  v1::Video Made(const v1::VideoSpec& spec) {
    StreamResult result = calls_.Generate(spec);
    EXPECT_TRUE(result.status.ok()) << result.status.error_message();
    file_ = std::move(result.file);
    return std::move(result.finished);
  }

  ReelServer server_{WithDemo()};
  Calls calls_{server_.Connect()};
  std::string file_;  // of the latest video
};

// Of the luma of all frames, in dB.
double Psnr(const std::string& actual, const std::string& expected) {
  const auto a = testing::Decode(actual), e = testing::Decode(expected);
  EXPECT_TRUE(a.ok() && e.ok()) << a.status() << e.status();
  if (!a.ok() || !e.ok() || a->luma.size() != e->luma.size()) return 0;
  double squares = 0, count = 0;
  for (size_t frame = 0; frame < a->luma.size(); ++frame) {
    for (size_t i = 0; i < a->luma[frame].size(); ++i) {
      const double apart = static_cast<double>(a->luma[frame][i]) - e->luma[frame][i];
      squares += apart * apart;
      ++count;
    }
  }
  if (squares == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(255.0 * 255.0 * count / squares);
}

TEST_F(CacheTest, SaysHowManyStepsWereReusedAndThatItIsLossy) {
  const v1::Video exact = Made(Spec("auto"));
  EXPECT_EQ(exact.stats().full_steps(), kSteps);
  EXPECT_EQ(exact.stats().reused_steps(), 0);
  for (const std::string profile : {"cache", "quick"}) {
    const v1::Video video = Made(Spec(profile));
    const v1::RunStats& stats = video.stats();
    EXPECT_EQ(stats.full_steps() + stats.reused_steps(), kSteps);
    EXPECT_GT(stats.reused_steps(), 0);
    EXPECT_GE(stats.full_steps(), 2);
    int64_t reused = 0;
    for (const v1::KernelUse& use : stats.kernels()) {
      if (use.op() != "step_cache") continue;
      EXPECT_EQ(use.variant(), "first_block");
      EXPECT_TRUE(use.lossy());
      reused += use.calls();
    }
    EXPECT_EQ(reused, stats.reused_steps());
    EXPECT_FALSE(video.spec().has_cache())
        << "nothing was asked for, the model's values were taken";
  }
  grpc::ClientContext context;
  v1::GetServerInfoResponse info;
  ASSERT_TRUE(calls_.server().GetServerInfo(&context, {}, &info).ok());
  EXPECT_THAT(info.lossy_kernel_profiles(), Contains("cache"));
  EXPECT_THAT(info.lossy_kernel_profiles(), Contains("quick"));
}

TEST_F(CacheTest, TakesARequestsOwnRulesAndRefusesOthers) {
  v1::VideoSpec spec = Spec("cache");
  spec.mutable_cache()->set_threshold(0);
  Made(Spec("auto"));
  const std::string exact = file_;
  EXPECT_EQ(Made(spec).stats().reused_steps(), 0);
  EXPECT_EQ(file_, exact) << "at threshold 0 it is auto";
  spec.mutable_cache()->set_threshold(1);
  spec.mutable_cache()->set_most_reused(16);
  const v1::Video made = Made(spec);
  // The first, the last and one between; now and then a step changes by more than all of it.
  EXPECT_GE(made.stats().full_steps(), 3);
  EXPECT_LE(made.stats().full_steps(), 6);
  EXPECT_EQ(made.spec().cache().most_reused(), 16);
  EXPECT_EQ(Made(made.spec()).media().sha256(), made.media().sha256());
  spec.mutable_cache()->set_threshold(1.5);
  spec.mutable_cache()->set_most_reused(17);
  EXPECT_THAT(ViolatedFields(calls_.Generate(spec).status),
              ElementsAre("spec.cache.threshold", "spec.cache.most_reused"));
}

TEST_F(CacheTest, StaysNearExactVideosAndTakesLessTime) {
  Made(Spec("auto"));  // the first of a process
  double least = std::numeric_limits<double>::infinity();
  absl::Duration exact_time, cache_time;
  int reused = 0;
  constexpr int kVideos = 3;
  for (uint64_t seed = 1; seed <= kVideos; ++seed) {
    exact_time += FromProtoDuration(Made(Spec("auto", seed)).stats().denoise());
    const std::string exact = file_;
    const v1::RunStats stats = Made(Spec("cache", seed)).stats();
    cache_time += FromProtoDuration(stats.denoise());
    reused += stats.reused_steps();
    least = std::min(least, Psnr(file_, exact));
  }
  std::cout << "FIGURE profile cache on ltx-demo, " << kVideos << " videos of " << kSteps
            << " steps: " << reused << " of " << kVideos * kSteps << " steps reused, denoising "
            << absl::ToDoubleSeconds(cache_time) << " s instead of "
            << absl::ToDoubleSeconds(exact_time) << " s, " << least
            << " dB or more from the exact ones\n";
  EXPECT_GT(least, 25);
}

}  // namespace
}  // namespace reel::tests
