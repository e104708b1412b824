// SPDX-License-Identifier: Apache-2.0
// The card's memory formula covers what LTX-2 allocates to encode a condition's clip, and to
// upsample a clip that is refined.
#include "tests/unit/model/ltx/condition_memory.h"

#include <string>

#include "gtest/gtest.h"
#include "model/ltx2/upsampler_config.h"
#include "model/ltx2/video_vae_config.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/ltx2/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

class Ltx2EncoderMemory : public ltx::ConditionMemory {};
class Ltx2UpsamplerMemory : public ltx::ConditionMemory {};

TEST_P(Ltx2EncoderMemory, OfAClipIsCovered) {
  const TinyComponent component("vae", GetParam());
  const auto config = ReadVideoVaeConfig(component.config(), "config.json");
  ASSERT_TRUE(config.ok()) << config.status();
  ExpectEncoderCovered(*config);
}

INSTANTIATE_TEST_SUITE_P(All, Ltx2EncoderMemory, ::testing::Values("2.0", "2.3"),
                         [](const auto& test) { return std::to_string(test.index); });

TEST_P(Ltx2UpsamplerMemory, OfAClipIsCovered) {
  const TinyComponent component("latent_upsampler", GetParam());
  const auto config = ReadUpsamplerConfig(component.config(), "config.json");
  ASSERT_TRUE(config.ok()) << config.status();
  const auto upsampler = LatentUpsampler::Load(component.weights(), *config, at::kFloat, at::kCPU);
  ASSERT_TRUE(upsampler.ok()) << upsampler.status();
  ExpectUpsamplerCovered(*upsampler);
}

INSTANTIATE_TEST_SUITE_P(All, Ltx2UpsamplerMemory,
                         ::testing::Values("rational-x2", "rational-x1.5", "x2"),
                         [](const auto& test) { return std::to_string(test.index); });

}  // namespace
}  // namespace reel::model::ltx2
