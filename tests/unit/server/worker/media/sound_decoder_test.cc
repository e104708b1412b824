// SPDX-License-Identifier: Apache-2.0
// Sounds of requests in the files that people have them in.
#include "server/worker/media/sound_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/worker/media/condition_decoder.h"
#include "tests/fakes/wav_file.h"
#include "tests/unit/server/worker/media/ffmpeg.h"

namespace reel::worker {
namespace {

using ::testing::HasSubstr;

constexpr model::SoundFormat kModelsFormat = {.sample_rate = 16'000, .channels = 2};

// 440 Hz to the left and 1 kHz to the right, or the former alone.
std::string MakeSound(double seconds, int rate, int channels, const std::string& options,
                      const std::string& ending) {
  const std::string left = absl::StrCat("sine=440:sample_rate=", rate, ":duration=", seconds);
  const std::string right = absl::StrCat("sine=1000:sample_rate=", rate, ":duration=", seconds);
  const std::string input = channels == 1
                                ? absl::StrCat("-f lavfi -i ", left)
                                : absl::StrCat("-f lavfi -i ", left, " -f lavfi -i ", right,
                                               " -filter_complex \"[0][1]amerge=inputs=2\"");
  return MakeWithFfmpeg(absl::StrCat(input, " ", options), ending);
}

auto DecodedSound(const std::string& bytes, int64_t most = 1 << 20) {
  return DecodeSound(bytes, kModelsFormat, most, [] { return absl::OkStatus(); });
}

std::string WhySoundRefused(const std::string& bytes) {
  const auto sound = DecodedSound(bytes);
  EXPECT_EQ(sound.status().code(), absl::StatusCode::kInvalidArgument) << sound.status();
  return std::string(sound.status().message());
}

// How much of a frequency a channel has: 1 is all of it, with ffmpeg's amplitude of 1/8.
double ShareOf(const model::ConditionSound& sound, int channel, double hertz) {
  double cosine = 0, sine = 0;
  const int64_t count = sound.samples();
  for (int64_t i = 0; i < count; ++i) {
    const double angle = 2 * M_PI * hertz * static_cast<double>(i) / sound.format.sample_rate;
    const double sample = sound.interleaved[static_cast<size_t>(2 * i + channel)];
    cosine += sample * std::cos(angle);
    sine += sample * std::sin(angle);
  }
  return 16 * std::hypot(cosine, sine) / static_cast<double>(count);
}

struct SoundCase {
  const char *name, *options, *ending;
  int rate = 48'000;
  double tolerance = 0.02;
};

class DecodesSound : public ::testing::TestWithParam<SoundCase> {};

TEST_P(DecodesSound, AtTheModelsRateWithEachChannelInItsPlace) {
  if (!HaveFfmpeg()) GTEST_SKIP() << "SKIPPED: no ffmpeg";
  const auto& [name, options, ending, rate, tolerance] = GetParam();
  for (const int channels : {1, 2}) {
    const auto sound = DecodedSound(MakeSound(1, rate, channels, options, ending));
    ASSERT_TRUE(sound.ok()) << sound.status();
    EXPECT_EQ((*sound)->format, kModelsFormat);
    EXPECT_FALSE((*sound)->is_cut);
    EXPECT_NEAR(static_cast<double>((*sound)->samples()), 16'000, 2100) << "codecs pad";
    EXPECT_NEAR(ShareOf(**sound, 0, 440), 1, tolerance);
    EXPECT_NEAR(ShareOf(**sound, 1, channels == 1 ? 440 : 1000), 1, tolerance);
    EXPECT_NEAR(ShareOf(**sound, 0, 1000), 0, 0.02);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, DecodesSound,
    ::testing::Values(SoundCase{"wav16", "-c:a pcm_s16le", ".wav"},
                      SoundCase{"wav24", "-c:a pcm_s24le", ".wav", 96'000},
                      SoundCase{"wavFloat", "-c:a pcm_f32le", ".wav", 44'100},
                      SoundCase{"wav8", "-c:a pcm_u8", ".wav", 22'050},
                      SoundCase{"flac", "-c:a flac", ".flac", 44'100},
                      SoundCase{"mp3", "-c:a libmp3lame -b:a 128k", ".mp3", 44'100, 0.1},
                      SoundCase{"aac", "-c:a aac -b:a 128k", ".m4a", 48'000, 0.1},
                      SoundCase{"sameRate", "-c:a pcm_s16le", ".wav", 16'000}),
    [](const auto& given) { return std::string(given.param.name); });

TEST(DecodeSound, StopsAtTheEndOfTheVideoAndTellsIt) {
  if (!HaveFfmpeg()) GTEST_SKIP() << "SKIPPED: no ffmpeg";
  const std::string two_seconds = MakeSound(2, 48'000, 2, "-c:a flac", ".flac");
  const auto cut = DecodedSound(two_seconds, 16'000);
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_EQ((*cut)->samples(), 16'000);
  EXPECT_TRUE((*cut)->is_cut);
  const auto whole = DecodedSound(two_seconds, 31'000);
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ((*whole)->samples(), 31'000);
  EXPECT_FALSE((*whole)->is_cut) << "a tenth of a second is what codecs add";
}

TEST(DecodeSound, MixesMoreChannelsToTwo) {
  if (!HaveFfmpeg()) GTEST_SKIP() << "SKIPPED: no ffmpeg";
  const auto sound = DecodedSound(MakeWithFfmpeg(
      "-f lavfi -i sine=440:duration=1 -af \"pan=5.1|c0=c0|c1=c0|c2=c0|c3=c0|c4=c0|c5=c0\" "
      "-c:a pcm_s16le",
      ".wav"));
  ASSERT_TRUE(sound.ok()) << sound.status();
  EXPECT_GT(ShareOf(**sound, 0, 440), 0.5);
  EXPECT_NEAR(ShareOf(**sound, 0, 440), ShareOf(**sound, 1, 440), 0.01);
}

TEST(DecodeSound, TakesTheSoundOfAClip) {
  if (!HaveFfmpeg()) GTEST_SKIP() << "SKIPPED: no ffmpeg";
  const std::string clip = MakeWithFfmpeg(
      "-f lavfi -i testsrc2=size=96x64:rate=25 -f lavfi -i sine=440 -t 1 -c:v libx264 -c:a aac",
      ".mp4");
  const auto sound = DecodedSound(clip);
  ASSERT_TRUE(sound.ok()) << sound.status();
  EXPECT_NEAR(ShareOf(**sound, 0, 440), 1, 0.1);
  const std::string silent =
      MakeWithFfmpeg("-f lavfi -i testsrc2=size=96x64:rate=25 -t 1 -c:v libx264", ".mp4");
  EXPECT_THAT(WhySoundRefused(silent), HasSubstr("contains no sound"));
}

TEST(DecodeSound, RefusesInWordsWhatItDoesNotTake) {
  EXPECT_THAT(WhySoundRefused(""), HasSubstr("is not a WAV, FLAC, MP3 or MP4 file"));
  EXPECT_THAT(WhySoundRefused("OggS and so on"), HasSubstr("is not a WAV, FLAC, MP3 or MP4 file"));
  EXPECT_FALSE(WhySoundRefused("fLaC").empty());
  EXPECT_FALSE(WhySoundRefused("ID3").empty());
  EXPECT_FALSE(WhySoundRefused(std::string("RIFF\0\0\0\0WAVE", 12)).empty());
  EXPECT_THAT(WhySoundRefused(reel::testing::WavFile(440, 0)), HasSubstr("contains no sound"));
  if (!HaveFfmpeg()) GTEST_SKIP() << "SKIPPED: no ffmpeg";
  EXPECT_THAT(WhySoundRefused(MakeSound(1, 48'000, 2, "-c:a adpcm_ms", ".wav")),
              HasSubstr("is coded as adpcm_ms; use PCM in WAV"));
  EXPECT_THAT(WhySoundRefused(MakeSound(1, 4'000, 1, "-c:a pcm_s16le", ".wav")),
              HasSubstr("4000 samples a second; use 8000 to 192000"));
}

TEST(DecodeSound, ReadsFloatsThatAreNoSamplesAsSilenceOrTheLoudest) {
  if (!HaveFfmpeg()) GTEST_SKIP() << "SKIPPED: no ffmpeg";
  std::string wav = MakeSound(0.1, 16'000, 2, "-c:a pcm_f32le -fflags +bitexact", ".wav");
  for (size_t i = wav.size() / 2; i < wav.size(); ++i) wav[i] = '\xFF';  // NaN
  const auto sound = DecodedSound(wav);
  ASSERT_TRUE(sound.ok()) << sound.status();
  for (const float sample : (*sound)->interleaved) {
    ASSERT_TRUE(sample >= -1 && sample <= 1) << sample;
  }
}

// Whatever a file says, the worker lives and other requests go on.
TEST(DecodeSound, SurvivesBrokenFiles) {
  if (!HaveFfmpeg()) GTEST_SKIP() << "SKIPPED: no ffmpeg";
  std::mt19937 random(1);
  for (const auto& [options, ending] :
       {std::pair("-c:a pcm_s16le", ".wav"), std::pair("-c:a flac", ".flac"),
        std::pair("-c:a libmp3lame", ".mp3"), std::pair("-c:a aac", ".m4a")}) {
    const std::string whole = MakeSound(0.3, 44'100, 2, options, ending);
    ASSERT_FALSE(whole.empty());
    for (int i = 0; i < 60; ++i) {
      std::string broken = whole.substr(0, i % 3 == 0 ? random() % whole.size() : whole.size());
      for (int flips = i % 7; flips > 0 && !broken.empty(); --flips) {
        broken[random() % broken.size()] = static_cast<char>(random());
      }
      const auto sound = DecodedSound(broken, 16'000);
      EXPECT_TRUE(sound.ok() || absl::IsInvalidArgument(sound.status())) << sound.status();
    }
  }
}

// What a decoder of AAC needs to start is no part of the sound.
TEST(DecodeSound, LeavesOutWhatAFileOfFragmentsHides) {
  if (!HaveFfmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  const auto whole = DecodedSound(MakeSound(1, 16'000, 2, "-c:a aac", ".mp4"));
  const auto fragments =
      DecodedSound(MakeSound(1, 16'000, 2, "-c:a aac -movflags frag_keyframe+delay_moov", ".mp4"));
  ASSERT_TRUE(whole.ok() && fragments.ok()) << whole.status() << fragments.status();
  EXPECT_EQ((*fragments)->interleaved, (*whole)->interleaved);
}

TEST(DecodeConditions, BringsSoundsToTheLengthOfTheVideo) {
  if (!HaveFfmpeg()) GTEST_SKIP() << "SKIPPED: no ffmpeg";
  model::Condition condition;
  condition.kind = model::Condition::Kind::kAudio;
  condition.bytes =
      std::make_shared<const std::string>(MakeSound(2, 48'000, 2, "-c:a flac", ".flac"));
  model::GenerationSpec spec;
  spec.width = 96;
  spec.height = 64;
  spec.num_frames = 25;
  spec.frame_rate = 24;
  spec.conditions = {condition};
  const std::atomic<bool> stop{false};
  DecodeLimits limits;
  limits.sound = kModelsFormat;
  ASSERT_TRUE(DecodeConditions(spec, limits, stop).ok());
  ASSERT_NE(spec.conditions[0].sound, nullptr);
  EXPECT_EQ(spec.conditions[0].sound->samples(), 16'667);  // 25 frames, rounded up
  EXPECT_TRUE(spec.conditions[0].sound->is_cut);
  condition.bytes = std::make_shared<const std::string>("no sound");
  spec.conditions = {condition};
  EXPECT_THAT(std::string(DecodeConditions(spec, limits, stop).message()),
              HasSubstr("conditions[0] is not a WAV"));
  spec.conditions[0].bytes =
      std::make_shared<const std::string>(MakeSound(2, 48'000, 2, "-c:a flac", ".flac"));
  limits.max_bytes = 1000;
  EXPECT_THAT(std::string(DecodeConditions(spec, limits, stop).message()),
              HasSubstr("conditions[0] is too large"));
}

}  // namespace
}  // namespace reel::worker
