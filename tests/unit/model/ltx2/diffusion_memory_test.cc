// SPDX-License-Identifier: Apache-2.0
// The diffusion decoder's peak of memory does not grow with the clip, and the card's formula covers
// it.
#include <cstdio>

#include "gtest/gtest.h"
#include "model/frames/frame_chain.h"
#include "model/ltx2/diffusion_config.h"
#include "model/vae/diffusion_decoder.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/counting_allocator.h"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx2/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

TEST(DiffusionDecodeMemory, DoesNotGrowWithTheClip) {
  // From the weights on: oneDNN gives back what it has by whatever allocator there is by then.
  CountingAllocator& counting = CountingAllocator::Get();
  const c10::InferenceMode no_gradients;
  const TinyComponent component("diffusion_decoder", "2.5");
  const auto config = ReadDiffusionDecoderConfig(component.config(), "config.json");
  ASSERT_TRUE(config.ok()) << config.status();
  const WeightSet stored = component.weights();
  Weights weights(stored, at::kFloat, at::kCPU);
  const DiffusionDecoder decoder(weights, *config);
  const TestRun test;
  // Frames are looked at and dropped, as a sink does it.
  const auto peak = [&](const LatentShape& clip) {
    const at::Tensor latents = Draw(1, {1, 8, clip.frames, clip.height, clip.width});
    return counting.PeakOf([&] {
      const at::Generator generator = at::detail::createCPUGenerator(7);
      const Ops ops(test.run);
      const FrameSourcePtr source = decoder.Decode(
          ops, LatentSource(latents, 1),
          PictureNoise::ByFrame(decoder.NoiseSizes(clip), decoder.dtype(), generator));
      for (bool last = false; !last;) last = source->Next(ops).last;
    });
  };
  const LatentShape clip = {6, 4, 6}, longer = {11, 4, 6};
  const int64_t once = peak(clip), twice = peak(longer);
  const int64_t pixels = clip.height * clip.width * 32 * 32;
  const int64_t formula = config->PixelNumbers() * 4 * pixels;
  std::printf("41 frames of 192x128: %.1f MiB, 81 %.1f MiB; by the formula %.1f MiB\n",
              static_cast<double>(once) / (1 << 20), static_cast<double>(twice) / (1 << 20),
              static_cast<double>(formula) / (1 << 20));
  EXPECT_LT(static_cast<double>(twice), 1.1 * static_cast<double>(once));
  EXPECT_LT(twice, formula);
  EXPECT_GT(twice, formula / 2);
}

}  // namespace
}  // namespace reel::model::ltx2
