// SPDX-License-Identifier: Apache-2.0
// LTX-2's latent upsamplers, against diffusers.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx2/upsampler_config.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx2/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

absl::StatusOr<LatentUpsampler> LoadUpsampler(const TinyComponent& component,
                                              at::ScalarType dtype) {
  const auto config = ReadUpsamplerConfig(component.config(), "config.json");
  if (!config.ok()) return config.status();
  return LatentUpsampler::Load(component.weights(), *config, dtype, at::kCPU);
}

class Ltx2Upsampler : public ::testing::TestWithParam<std::string> {
 protected:
  const TinyComponent component_{"latent_upsampler", GetParam()};
  const TestRun test_;
};

TEST_P(Ltx2Upsampler, EqualsDiffusers) {
  const Golden golden = component_.golden();
  const auto fp32 = LoadUpsampler(component_, at::kFloat);
  const auto bf16 = LoadUpsampler(component_, at::kBFloat16);
  ASSERT_TRUE(fp32.ok()) << fp32.status();
  ASSERT_TRUE(bf16.ok()) << bf16.status();
  const Ops ops(test_.run);
  Worst worst;
  const std::pair<std::string, at::Tensor> cases[] = {{"small", Draw(41, {1, 8, 3, 2, 3})},
                                                      {"large", Draw(42, {1, 8, 3, 4, 6})}};
  for (const auto& [name, latents] : cases) {
    AddTo(worst, golden, name, (*fp32)(ops, latents), (*bf16)(ops, latents.to(at::kBFloat16)));
  }
  EXPECT_LT(worst.error, 1e-5);
  EXPECT_LT(worst.ratio, 2);
}

INSTANTIATE_TEST_SUITE_P(All, Ltx2Upsampler,
                         ::testing::Values("rational-x2", "rational-x1.5", "x2", "temporal"),
                         [](const auto& test) {
                           return std::to_string(test.index);  // names have dots
                         });

TEST(Ltx2UpsamplerConfig, TakesTheDefaultsOfItsClass) {
  const auto config = ReadUpsamplerConfig(nlohmann::json::object(), "config.json");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->width, 1024);
  EXPECT_TRUE(config->rational);
  EXPECT_EQ(config->grow, 2);
}

TEST(Ltx2UpsamplerConfig, TakesTheWordsOfAReleasedFile) {
  const auto plain = ReadUpsamplerConfig({{"_class_name", "LatentUpsampler"}}, "file");
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_FALSE(plain->rational);
  const auto rational =
      ReadUpsamplerConfig({{"rational_resampler", true}, {"spatial_scale", 1.5}}, "file");
  ASSERT_TRUE(rational.ok()) << rational.status();
  EXPECT_TRUE(rational->rational);
  EXPECT_EQ(rational->grow, 3);
  EXPECT_EQ(rational->shrink, 2);
  const auto mixed =
      ReadUpsamplerConfig({{"rational_resampler", true}, {"rational_spatial_scale", 2}}, "file");
  EXPECT_THAT(mixed.status().message(), HasSubstr("rational_spatial_scale"));
}

TEST(Ltx2UpsamplerConfig, RefusesByNameWhatItDoesNotCompute) {
  const auto refused = [](const char* variant, const char* key, const nlohmann::json& value) {
    nlohmann::json file = TinyComponent("latent_upsampler", variant).config();
    file[key] = value;
    const absl::Status status = ReadUpsamplerConfig(file, "config.json").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << key;
    EXPECT_THAT(status.message(), AllOf(HasSubstr("config.json"), HasSubstr(key)));
  };
  refused("rational-x2", "rational_spatial_scale", 0.75);
  refused("x2", "rational_spatial_scale", 1.5);
  refused("x2", "mid_channels", 48);
  refused("x2", "spatial_upsample", false);
  refused("temporal", "dims", 2);
  refused("x2", "blur", 5);
}

TEST(Ltx2UpsamplerWeights, NameTheTensorThatIsMissing) {
  const TinyComponent plain("latent_upsampler", "x2");
  auto config = *ReadUpsamplerConfig(plain.config(), "config.json");
  config.rational = true;
  const auto loaded = LatentUpsampler::Load(plain.weights(), config, at::kFloat, at::kCPU);
  EXPECT_EQ(loaded.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(loaded.status().message(), HasSubstr("upsampler.conv.weight"));
}

}  // namespace
}  // namespace reel::model::ltx2
