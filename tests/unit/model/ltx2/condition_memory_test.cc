// SPDX-License-Identifier: Apache-2.0
// The card's formula covers what LTX-2 takes for a condition's clip: to encode it, and to upsample
// one that is refined.
#include <cstdio>
#include <string>

#include "gtest/gtest.h"
#include "model/ltx2/upsampler_config.h"
#include "model/ltx2/video_vae_config.h"
#include "model/vae/vae_encoder.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/counting_allocator.h"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx2/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

// Nearer to the released encoders' widths.
void Widen(VaeConfig& config) {
  constexpr int64_t kTimes = 8;
  config.encoder_in *= kTimes;
  config.encoder_mid *= kTimes;
  for (DownStage& stage : config.down) stage.in *= kTimes, stage.out *= kTimes;
}

// From the weights on: oneDNN gives back what it has by whatever allocator there is by then.
class Ltx2ConditionMemory : public ::testing::Test {
 protected:
  // `numbers`: by the formula, fp32 each.
  void ExpectCovered(const std::string& what, int64_t taken, int64_t numbers) {
    std::printf("%s: %.2f MiB, by the formula %.2f MiB\n", what.c_str(),
                static_cast<double>(taken) / (1 << 20),
                static_cast<double>(4 * numbers) / (1 << 20));
    EXPECT_LE(taken, 4 * numbers) << what;
    EXPECT_GT(taken, 4 * numbers / 3) << what;
  }

  CountingAllocator& counting_ = CountingAllocator::Get();
  const c10::InferenceMode no_gradients_;
  const TestRun test_;
};

class Ltx2EncoderMemory : public Ltx2ConditionMemory,
                          public ::testing::WithParamInterface<std::string> {};

TEST_P(Ltx2EncoderMemory, OfAClipIsCovered) {
  const TinyComponent component("vae", GetParam());
  auto config = ReadVideoVaeConfig(component.config(), "config.json");
  ASSERT_TRUE(config.ok()) << config.status();
  Widen(*config);
  const auto stored = WeightSet::OpenFolder("/", "random", /*random_seed=*/7);
  Weights weights(*stored, at::kFloat, at::kCPU);
  const VaeEncoder encoder(weights, *config);
  // Shorter ones libtorch unfolds for the kernel, as it does no clip of full size.
  for (const int64_t frames : {33, 49}) {
    const at::Tensor pixels = Draw(1, {1, 3, frames, 64, 96});
    const int64_t taken =
        counting_.PeakOf([&] { encoder.Encode(Ops(test_.run), pixels).mean.sum(); });
    ExpectCovered(std::to_string(frames) + " frames", taken,
                  EncoderPixelNumbers(*config) * (frames + 2) * 64 * 96);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Ltx2EncoderMemory, ::testing::Values("2.0", "2.3"),
                         [](const auto& test) { return std::to_string(test.index); });

class Ltx2UpsamplerMemory : public Ltx2ConditionMemory,
                            public ::testing::WithParamInterface<std::string> {};

TEST_P(Ltx2UpsamplerMemory, OfAClipIsCovered) {
  const TinyComponent component("latent_upsampler", GetParam());
  const auto config = ReadUpsamplerConfig(component.config(), "config.json");
  ASSERT_TRUE(config.ok()) << config.status();
  const auto upsampler = LatentUpsampler::Load(component.weights(), *config, at::kFloat, at::kCPU);
  ASSERT_TRUE(upsampler.ok()) << upsampler.status();
  // Shorter ones libtorch unfolds for the kernel, as it does no clip of full size.
  for (const int64_t frames : {60, 100}) {
    const at::Tensor latents = Draw(1, {1, 8, frames, 8, 12});
    int64_t tokens = 0;
    const int64_t taken = counting_.PeakOf([&] {
      const at::Tensor high = (*upsampler)(Ops(test_.run), latents);
      tokens = high.size(2) * high.size(3) * high.size(4);
    });
    ExpectCovered(std::to_string(frames) + " latent frames", taken,
                  config->TokenNumbers() * tokens);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Ltx2UpsamplerMemory,
                         ::testing::Values("rational-x2", "rational-x1.5", "x2"),
                         [](const auto& test) { return std::to_string(test.index); });

}  // namespace
}  // namespace reel::model::ltx2
