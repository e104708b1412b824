// SPDX-License-Identifier: Apache-2.0
// The decode in pieces has a peak of memory that does not grow with the clip.
#include <cstdio>
#include <string>

#include "gtest/gtest.h"
#include "model/ltx/read_vae_config.h"
#include "model/vae/vae_decoder.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/counting_allocator.h"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model::ltx {
namespace {

class DecodeMemory : public ::testing::TestWithParam<std::string> {};

TEST_P(DecodeMemory, DoesNotGrowWithTheClip) {
  // From the weights on: oneDNN gives back what it has by whatever allocator there is by then.
  CountingAllocator& counting = CountingAllocator::Get();
  const c10::InferenceMode no_gradients;
  const TinyFolder folder(GetParam());
  const auto config = ReadVaeConfig(*ReadJsonFile(folder.path() + "/vae/config.json"), "vae");
  const auto stored = WeightSet::OpenFolder(folder.path() + "/vae", "diffusion_pytorch_model");
  Weights weights(*stored, at::kFloat, at::kCPU);
  const VaeDecoder decoder(weights, *config);
  TestRun test;
  // Frames are looked at and dropped, as a sink does it.
  const auto peak = [&](int64_t latent_frames, int64_t piece) {
    const at::Tensor latents = Draw(1, {1, 8, latent_frames, 2, 3});
    return counting.PeakOf([&] {
      at::Generator noise = at::detail::createCPUGenerator(7);
      const Ops ops(test.run);
      const FrameSourcePtr source = decoder.Decode(ops, latents, {{piece, piece}, 0.05, noise});
      for (bool last = false; !last;) last = source->Next(ops).last;
    });
  };
  const int64_t streamed = peak(33, 1), twice = peak(65, 1), whole = peak(33, 33);
  std::printf("%s: 257 frames whole %.1f MiB, in pieces %.1f MiB; 513 in pieces %.1f MiB\n",
              GetParam().c_str(), static_cast<double>(whole) / (1 << 20),
              static_cast<double>(streamed) / (1 << 20), static_cast<double>(twice) / (1 << 20));
  EXPECT_LT(streamed, whole / 4);
  EXPECT_LT(static_cast<double>(twice), 1.1 * static_cast<double>(streamed));
}

INSTANTIATE_TEST_SUITE_P(Generations, DecodeMemory, ::testing::Values("0.9.0", "0.9.1", "0.9.5"));

}  // namespace
}  // namespace reel::model::ltx
