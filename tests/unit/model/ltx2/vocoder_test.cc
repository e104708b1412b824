// SPDX-License-Identifier: Apache-2.0
// Spectra to waves, against diffusers.
#include "model/ltx2/vocoder.h"

#include <cstdio>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/ltx/tiny_folder.h"
#include "tests/unit/model/ltx2/sound_fixture.h"

namespace reel::model::ltx2 {
namespace {

using ltx::Draw;
using ltx::Golden;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct VocoderCase {
  const char* name;
  double bound;  // a second generator of the first one's wave makes its errors larger
};

class EveryVocoder : public ::testing::TestWithParam<VocoderCase> {
 protected:
  EveryVocoder() : vocoder_(LoadVocoder(GetParam().name)) {}

  const Golden golden_ = Golden::In("ltx2_sound");
  const absl::StatusOr<Vocoder> vocoder_;
};

TEST_P(EveryVocoder, MakesTheWaveOfDiffusers) {
  ASSERT_TRUE(vocoder_.ok()) << vocoder_.status();
  const std::string name = GetParam().name;
  const std::pair<std::string, at::Tensor> cases[] = {{name, Draw(51, {1, 2, 33, 16})},
                                                      {name + ".frame", Draw(52, {1, 2, 1, 16})}};
  for (const auto& [golden, spectrum] : cases) {
    const double error = RelativeError((*vocoder_)(spectrum), golden_[golden]);
    RecordProperty(golden, std::to_string(error * 1e6) + " millionths");
    std::printf("%s: error %.2e\n", golden.c_str(), error);
    EXPECT_LT(error, GetParam().bound) << golden;
  }
}

TEST_P(EveryVocoder, MakesTheSameWaveInPieces) {
  ASSERT_TRUE(vocoder_.ok()) << vocoder_.status();
  const at::Tensor spectrum = Draw(55, {1, 2, 130, 16});
  const at::Tensor whole = (*vocoder_)(spectrum);
  EXPECT_EQ(whole.size(2), 130 * vocoder_->config().SamplesPerFrame());
  for (const int64_t piece : {30, 64}) {
    const double error = RelativeError((*vocoder_)(spectrum, piece), whole);
    std::printf("%s in pieces of %ld: error %.2e\n", GetParam().name, piece, error);
    EXPECT_LT(error, 2e-6) << piece;
  }
}

TEST_P(EveryVocoder, SaysWhichTensorIsMissingOrHasAnotherShape) {
  const auto stored =
      WeightSet::OpenFolder(SoundFolder(GetParam().name), "diffusion_pytorch_model");
  auto config = *ReadVocoderConfig(SoundConfig(GetParam().name), "config.json");
  config.generator.stacks.push_back(config.generator.stacks.back());
  const absl::Status missing = Vocoder::Load(*stored, config, at::kCPU).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(missing.message(), AllOf(HasSubstr("resnets."), HasSubstr("shape")));
  config.generator.stacks.pop_back();
  config.generator.upsamplings.pop_back();
  EXPECT_FALSE(Vocoder::Load(*stored, config, at::kCPU).ok());
}

INSTANTIATE_TEST_SUITE_P(All, EveryVocoder,
                         ::testing::Values(VocoderCase{"vocoder", 1e-5},
                                           VocoderCase{"vocoder_extended", 5e-5}),
                         [](const auto& vocoder) { return std::string(vocoder.param.name); });

TEST(VocoderConfig, TakesTheDefaultsOfItsClass) {
  const auto plain = ReadVocoderConfig({{"_class_name", "LTX2Vocoder"}}, "config.json");
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(plain->SampleRate(), 24000);
  EXPECT_EQ(plain->SamplesPerFrame(), 240);
  EXPECT_EQ(plain->generator.end, GeneratorConfig::End::kTanh);
  EXPECT_FALSE(plain->extension.has_value());
  const auto extended = ReadVocoderConfig({{"_class_name", "LTX2VocoderWithBWE"}}, "config.json");
  ASSERT_TRUE(extended.ok()) << extended.status();
  EXPECT_EQ(extended->SampleRate(), 48000);
  EXPECT_EQ(extended->SamplesPerFrame(), 480);
  EXPECT_EQ(extended->generator.end, GeneratorConfig::End::kNone);
  EXPECT_EQ(extended->extension->generator.hidden_channels, 512);
}

TEST(VocoderConfig, TakesNullForNoActivationAtTheEnd) {
  const auto config = ReadVocoderConfig({{"final_act_fn", nullptr}}, "config.json");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->generator.end, GeneratorConfig::End::kNone);
}

TEST(VocoderConfig, RefusesByNameWhatItDoesNotCompute) {
  const auto refused = [](const char* name, const char* key, const nlohmann::json& value) {
    nlohmann::json file = SoundConfig(name);
    file[key] = value;
    const absl::Status status = ReadVocoderConfig(file, "config.json").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << key;
    EXPECT_THAT(status.message(), AllOf(HasSubstr("config.json"), HasSubstr(key)));
  };
  refused("vocoder", "_class_name", "LTX2DiffusionVocoder");
  refused("vocoder", "act_fn", "snake");
  refused("vocoder", "antialias", true);
  refused("vocoder", "final_act_fn", "softsign");
  refused("vocoder", "hidden_channels", 18);
  refused("vocoder", "upsample_kernel_sizes", {4, 4});
  refused("vocoder", "upsample_kernel_sizes", {4});
  refused("vocoder", "resnet_kernel_sizes", {3, 4});
  refused("vocoder", "resnet_dilations", {{1, 3}, {0}});
  refused("vocoder", "hop_length", 80);
  refused("vocoder", "gain", 1);
  refused("vocoder_extended", "antialias", false);
  refused("vocoder_extended", "antialias_ratio", 4);
  refused("vocoder_extended", "antialias_kernel_size", 8);
  refused("vocoder_extended", "filter_length", 127);
  refused("vocoder_extended", "window_length", 64);
  refused("vocoder_extended", "hop_length", 256);
  refused("vocoder_extended", "num_mel_channels", 16);
  refused("vocoder_extended", "bwe_in_channels", 32);
  refused("vocoder_extended", "bwe_out_channels", 1);
  refused("vocoder_extended", "bwe_upsample_factors", {6, 5, 4});
  refused("vocoder_extended", "output_sampling_rate", 44100);
}

}  // namespace
}  // namespace reel::model::ltx2
