// SPDX-License-Identifier: Apache-2.0
// Audio latents to spectra and back, against diffusers.
#include "model/ltx2/audio_vae.h"

#include <cstdio>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/model/ltx/tiny_folder.h"
#include "tests/unit/model/ltx2/sound_fixture.h"

namespace reel::model::ltx2 {
namespace {

using ltx::Draw;
using ltx::Golden;
using ::testing::AllOf;
using ::testing::HasSubstr;

at::Tensor Tokens() { return Draw(53, {1, 9, 8}); }
at::Tensor Spectrum() { return Draw(54, {1, 2, 33, 16}); }

TEST(AudioVae, DecodesAndEncodesLikeDiffusers) {
  const Golden golden = Golden::In("ltx2_sound");
  const auto vae = LoadAudioVae(at::kFloat);
  ASSERT_TRUE(vae.ok()) << vae.status();
  const double decoded = RelativeError(vae->Decode(Tokens()), golden["spectrum"]);
  const double encoded = RelativeError(vae->Encode(Spectrum()), golden["latents"]);
  std::printf("audio autoencoder: errors %.2e, %.2e\n", decoded, encoded);
  EXPECT_LT(decoded, 1e-5);
  EXPECT_LT(encoded, 1e-5);
}

TEST(AudioVae, NormalizesLatentsByTheStatisticsOfTokens) {
  const Golden golden = Golden::In("ltx2_sound");
  const auto vae = LoadAudioVae(at::kFloat);
  ASSERT_TRUE(vae.ok()) << vae.status();
  const at::Tensor latents = vae->Normalize(golden["latents"]);
  EXPECT_LT(RelativeError(latents.transpose(1, 2).flatten(2), golden["latents.tokens"]), 1e-6);
}

TEST(AudioVae, ErrsInSixteenBitsNoMoreThanTwiceWhatDiffusersDoes) {
  const Golden golden = Golden::In("ltx2_sound");
  const auto vae = LoadAudioVae(at::kBFloat16);
  ASSERT_TRUE(vae.ok()) << vae.status();
  const auto ratio = [&golden](const at::Tensor& own, const std::string& name) {
    const double reference = RelativeError(golden[name + ".bf16"], golden[name]);
    const double error = RelativeError(own, golden[name]);
    std::printf("%s in bf16: error %.2e, of diffusers %.2e\n", name.c_str(), error, reference);
    return error / reference;
  };
  EXPECT_LT(ratio(vae->Decode(Tokens()), "spectrum"), 2);
  EXPECT_LT(ratio(vae->Encode(Spectrum()), "latents"), 2);
}

TEST(AudioVae, DecodesTheSameInPieces) {
  const auto vae = LoadAudioVae(at::kFloat);
  ASSERT_TRUE(vae.ok()) << vae.status();
  const at::Tensor tokens = Draw(56, {1, 90, 8}), whole = vae->Decode(tokens);
  EXPECT_EQ(whole.size(2), 4 * 90 - 3);
  for (const int64_t piece : {1, 25, 64}) {
    EXPECT_LT(RelativeError(vae->Decode(tokens, piece), whole), 1e-6) << piece;
  }
}

TEST(AudioVae, SaysWhichTensorIsMissingOrHasAnotherShape) {
  const auto stored = SoundWeights("audio_vae");
  const auto read = *ReadAudioVaeConfig(SoundConfig("audio_vae"), "config.json");
  AudioVaeConfig deeper = read, wider = read;
  deeper.layers = 2;
  wider.channels = 1;
  const auto loaded = [&stored](const AudioVaeConfig& config) {
    return std::string(AudioVae::Load(stored, config, at::kFloat, at::kCPU).status().message());
  };
  EXPECT_THAT(loaded(deeper), AllOf(HasSubstr("decoder.up.2.block.2"), HasSubstr("missing")));
  EXPECT_THAT(loaded(wider), AllOf(HasSubstr("decoder.conv_out"), HasSubstr("shape")));
}

TEST(AudioVaeConfig, TakesTheDefaultsOfItsClass) {
  const auto config = ReadAudioVaeConfig(nlohmann::json::object(), "config.json");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->TokenChannels(), 128);
  EXPECT_EQ(config->LatentBins(), 16);
  EXPECT_EQ(AudioVaeConfig::Frames(1), 1);
  EXPECT_EQ(AudioVaeConfig::Frames(126), 501);
}

TEST(AudioVaeConfig, RefusesByNameWhatItDoesNotCompute) {
  const auto refused = [](const char* key, const nlohmann::json& value) {
    nlohmann::json file = SoundConfig("audio_vae");
    file[key] = value;
    const absl::Status status = ReadAudioVaeConfig(file, "config.json").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << key;
    EXPECT_THAT(status.message(), AllOf(HasSubstr("config.json"), HasSubstr(key)));
  };
  refused("norm_type", "group");
  refused("causality_axis", "width");
  refused("attn_resolutions", {16});
  refused("mid_block_add_attention", true);
  refused("double_z", false);
  refused("is_causal", false);
  refused("ch_mult", {1, 2});
  refused("base_channels", 16);
  refused("mel_bins", 18);
  refused("in_channels", 1);
  refused("scale", 1);
}

}  // namespace
}  // namespace reel::model::ltx2
