// SPDX-License-Identifier: Apache-2.0
// Tokens to samples, as a whole.
#include "model/ltx2/sound_output.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

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

TEST(SoundOutput, IsNearlyTheSameInPiecesThatDoNotSeeWhatComesLater) {
  constexpr int64_t kTokens = 110, kPiece = 64;
  for (const char* const vocoder : {"vocoder", "vocoder_extended"}) {
    const auto sound = Joined(vocoder);
    ASSERT_TRUE(sound.ok()) << sound.status();
    const at::Tensor tokens = Draw(53, {1, kTokens, 8});
    const at::Tensor whole = *sound->Samples(tokens);
    std::vector<at::Tensor> pieces;
    for (int64_t begin = 0; begin < kTokens; begin += kPiece) {
      const int64_t end = std::min(begin + kPiece, kTokens);
      const at::Tensor now = tokens.clone();  // what is later may still be noise
      now.slice(1, std::min(end + sound->ahead(), kTokens)).fill_(1000);
      const auto samples = sound->Samples(now, begin, end);
      ASSERT_TRUE(samples.ok()) << samples.status();
      EXPECT_EQ(samples->size(1), sound->SamplesOf(end) - sound->SamplesOf(begin));
      pieces.push_back(*samples);
    }
    const double error = RelativeError(at::cat(pieces, 1), whole);
    std::printf("%s: looks %ld tokens ahead; error of pieces %.2e\n", vocoder, sound->ahead(),
                error);
    EXPECT_LT(error, 5e-6) << vocoder;
    EXPECT_EQ(sound->Samples(tokens, 7, 7)->size(1), 0);
  }
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
