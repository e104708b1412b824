// SPDX-License-Identifier: Apache-2.0
// The card's memory formula covers what LTX-Video allocates to encode a condition's clip, and to
// upsample a clip that is refined.
#include "tests/unit/model/ltx/condition_memory.h"

#include <string>

#include "gtest/gtest.h"
#include "model/ltx/read_vae_config.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx {
namespace {

using EncoderMemory = ConditionMemory;
using UpsamplerMemory = ConditionMemory;

TEST_P(EncoderMemory, OfAClipIsCovered) {
  const TinyFolder folder(GetParam());
  const auto config = ReadVaeConfig(*ReadJsonFile(folder.path() + "/vae/config.json"), "vae");
  ASSERT_TRUE(config.ok()) << config.status();
  ExpectEncoderCovered(*config);
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
  ExpectUpsamplerCovered(*upsampler);
}

INSTANTIATE_TEST_SUITE_P(Kinds, UpsamplerMemory, ::testing::Values("spatial", "flat"));

}  // namespace
}  // namespace reel::model::ltx
