// SPDX-License-Identifier: Apache-2.0
// Compares the card's memory formula with what encoders and latent upsamplers allocate.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "model/vae/latent_upsampler.h"
#include "model/vae/vae_encoder.h"
#include "tests/unit/model/bridge/counting_allocator.h"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model::ltx {

// Counts allocations from the weights on: oneDNN returns memory to the allocator of the moment.
class ConditionMemory : public ::testing::TestWithParam<std::string> {
 protected:
  // An encoder of random weights, eight times as wide as `config`: nearer to the released ones.
  void ExpectEncoderCovered(VaeConfig config) {
    constexpr int64_t kTimes = 8;
    config.encoder_in *= kTimes;
    config.encoder_mid *= kTimes;
    for (DownStage& stage : config.down) stage.in *= kTimes, stage.out *= kTimes;
    const auto stored = WeightSet::OpenFolder("/", "random", /*random_seed=*/7);
    Weights weights(*stored, at::kFloat, at::kCPU);
    const VaeEncoder encoder(weights, config);
    // Shorter clips are unfolded for the kernel by libtorch, which clips of full size are not.
    for (const int64_t frames : {33, 49}) {
      const at::Tensor pixels = Draw(1, {1, 3, frames, 64, 96});
      const int64_t taken =
          counting_.PeakOf([&] { encoder.Encode(Ops(test_.run), pixels).mean.sum(); });
      ExpectCovered(std::to_string(frames) + " frames", taken,
                    EncoderPixelNumbers(config) * (frames + 2) * 64 * 96);
    }
  }

  void ExpectUpsamplerCovered(const LatentUpsampler& upsampler) {
    // As above.
    for (const int64_t frames : {60, 100}) {
      const at::Tensor latents = Draw(1, {1, 8, frames, 8, 12});
      int64_t tokens = 0;
      const int64_t taken = counting_.PeakOf([&] {
        const at::Tensor high = upsampler(Ops(test_.run), latents);
        tokens = high.size(2) * high.size(3) * high.size(4);
      });
      ExpectCovered(std::to_string(frames) + " latent frames", taken,
                    upsampler.config().TokenNumbers() * tokens);
    }
  }

 private:
  // `numbers`: by the formula, fp32 each.
  static void ExpectCovered(const std::string& what, int64_t taken, int64_t numbers) {
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

}  // namespace reel::model::ltx
