// SPDX-License-Identifier: Apache-2.0
// The card's formula covers what LTX-Video takes for a condition's clip: to encode it, and to
// upsample one that is refined.
#include <cstdio>
#include <string>

#include "gtest/gtest.h"
#include "model/ltx/read_vae_config.h"
#include "model/vae/latent_upsampler.h"
#include "model/vae/vae_encoder.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/counting_allocator.h"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model::ltx {
namespace {

// Nearer to the released encoders' widths.
void Widen(VaeConfig& config) {
  constexpr int64_t kTimes = 8;
  config.encoder_in *= kTimes;
  config.encoder_mid *= kTimes;
  for (DownStage& stage : config.down) stage.in *= kTimes, stage.out *= kTimes;
}

// `numbers`: by the formula, fp32 each.
void ExpectCovered(const std::string& what, int64_t taken, int64_t numbers) {
  std::printf("%s: %.2f MiB, by the formula %.2f MiB\n", what.c_str(),
              static_cast<double>(taken) / (1 << 20), static_cast<double>(4 * numbers) / (1 << 20));
  EXPECT_LE(taken, 4 * numbers) << what;
  EXPECT_GT(taken, 4 * numbers / 3) << what;
}

// From the weights on: oneDNN gives back what it has by whatever allocator there is by then.
class ConditionMemory : public ::testing::TestWithParam<std::string> {
 protected:
  CountingAllocator& counting_ = CountingAllocator::Get();
  const c10::InferenceMode no_gradients_;
  const TestRun test_;
};

using EncoderMemory = ConditionMemory;
using UpsamplerMemory = ConditionMemory;

TEST_P(EncoderMemory, OfAClipIsCovered) {
  const TinyFolder folder(GetParam());
  auto config = ReadVaeConfig(*ReadJsonFile(folder.path() + "/vae/config.json"), "vae");
  ASSERT_TRUE(config.ok()) << config.status();
  Widen(*config);
  const auto stored = WeightSet::OpenFolder(folder.path(), "random", /*random_seed=*/7);
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

INSTANTIATE_TEST_SUITE_P(Generations, EncoderMemory, ::testing::Values("0.9.0", "0.9.1", "0.9.5"));

TEST_P(UpsamplerMemory, OfAClipIsCovered) {
  const TinyFolder folder("0.9.5");
  folder.AddUpsampler(GetParam());
  const std::string part = folder.path() + "/latent_upsampler";
  const auto config = ReadUpsamplerConfig(*ReadJsonFile(part + "/config.json"), part);
  ASSERT_TRUE(config.ok()) << config.status();
  const auto upsampler = LatentUpsampler::Load(
      *WeightSet::OpenFolder(part, "diffusion_pytorch_model"), *config, at::kFloat, at::kCPU);
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

INSTANTIATE_TEST_SUITE_P(Kinds, UpsamplerMemory, ::testing::Values("spatial", "flat"));

}  // namespace
}  // namespace reel::model::ltx
