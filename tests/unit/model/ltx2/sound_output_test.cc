// SPDX-License-Identifier: Apache-2.0
// Tokens to samples, as a whole.
#include "model/ltx2/sound_output.h"

#include <filesystem>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/model/ltx/tiny_folder.h"
#include "tests/unit/model/ltx2/sound_fixture.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model::ltx2 {
namespace {

using ltx::Draw;
using ltx::Golden;
using ::testing::HasSubstr;

absl::StatusOr<SoundOutput> Joined(const std::string& vocoder) {
  return SoundOutput::Join(*LoadAudioVae(at::kFloat), *LoadVocoder(vocoder));
}

TEST(SoundOutput, MakesTheWaveThatDiffusersMakesOfTheTokens) {
  const Golden golden = Golden::In("ltx2_sound");
  const std::pair<std::string, std::string> cases[] = {{"vocoder", "wave"},
                                                       {"vocoder_extended", "wave_extended"}};
  for (const auto& [vocoder, wave] : cases) {
    const auto sound = Joined(vocoder);
    ASSERT_TRUE(sound.ok()) << sound.status();
    const auto samples = sound->Samples(Draw(53, {1, 9, 8}));
    ASSERT_TRUE(samples.ok()) << samples.status();
    EXPECT_EQ(samples->size(1), sound->SamplesOf(9));
    EXPECT_LT(RelativeError(*samples, golden[wave].squeeze(0)), 5e-5) << vocoder;
  }
}

TEST(SoundOutput, IsAsLongAsItsFramesAtTheVocodersRate) {
  const auto sound = Joined("vocoder_extended");
  ASSERT_TRUE(sound.ok()) << sound.status();
  EXPECT_EQ(sound->format(), (SoundFormat{.sample_rate = 48000, .channels = 2}));
  EXPECT_EQ(sound->SamplesOf(126), 240'480);  // 121 frames at 24 a second
  EXPECT_EQ(sound->SamplesOf(1), 480);
}

TEST(SoundOutput, RefusesAVocoderForOtherSpectra) {
  nlohmann::json file = SoundConfig("vocoder");
  file["output_sampling_rate"] = 700;
  const auto config = ReadVocoderConfig(file, "config.json");
  const auto vocoder = Vocoder::Load(SoundWeights("vocoder"), *config, at::kCPU);
  const auto sound = SoundOutput::Join(*LoadAudioVae(at::kFloat), *vocoder);
  EXPECT_EQ(sound.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(sound.status().message(), HasSubstr("6 samples at 700 Hz"));
}

TEST(SoundOutput, RefusesToMakeNoiseOfTokensThatAreNotNumbers) {
  const auto sound = Joined("vocoder");
  ASSERT_TRUE(sound.ok()) << sound.status();
  const at::Tensor tokens = Draw(53, {1, 9, 8});
  tokens[0][3][2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(sound->Samples(tokens).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace reel::model::ltx2
