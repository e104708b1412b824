// SPDX-License-Identifier: Apache-2.0
// Loudness and peaks of signals that are known by construction, those of EBU Tech 3341 among them,
// and against the ffmpeg command's own measure.
#include "server/worker/media/loudness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/fakes/temp_folder.h"
#include "tests/unit/server/worker/media/ffmpeg.h"

namespace reel::worker {
namespace {

constexpr model::SoundFormat kStereo = {48'000, 2};

float Amplitude(double dbfs) { return static_cast<float>(std::pow(10.0, dbfs / 20)); }

// Appends a tone of so many seconds to each channel.
void AddTone(const model::SoundFormat& format, double hertz, double dbfs, double seconds,
             std::vector<float>& samples) {
  const auto count = static_cast<size_t>(seconds * format.sample_rate);
  for (size_t i = 0; i < count; ++i) {
    const double at = static_cast<double>(i) / format.sample_rate;
    const double sample = Amplitude(dbfs) * std::sin(2 * std::numbers::pi * hertz * at);
    samples.insert(samples.end(), static_cast<size_t>(format.channels), static_cast<float>(sample));
  }
}

model::SoundStats OfTones(const model::SoundFormat& format,
                          const std::vector<std::pair<double, double>>& dbfs_and_seconds) {
  std::vector<float> samples;
  for (const auto& [dbfs, seconds] : dbfs_and_seconds) {
    AddTone(format, 1000, dbfs, seconds, samples);
  }
  return MeasureSound(format, samples);
}

// At a low rate, which a sanitizer is done with six times as soon; that rates do not matter is
// the next test's.
TEST(MeasureSound, GivesTheLoudnessThatEbuTech3341Names) {
  constexpr model::SoundFormat kLow = {8'000, 2};
  EXPECT_NEAR(*OfTones(kLow, {{-23, 20}}).loudness_lufs, -23, 0.1);
  EXPECT_NEAR(*OfTones(kLow, {{-33, 20}}).loudness_lufs, -33, 0.1);
  // The relative gate leaves the quiet beginning and end out, the absolute one what is near
  // silence.
  EXPECT_NEAR(*OfTones(kLow, {{-36, 10}, {-23, 60}, {-36, 10}}).loudness_lufs, -23, 0.1);
  EXPECT_NEAR(*OfTones(kLow, {{-72, 10}, {-36, 10}, {-23, 60}, {-36, 10}, {-72, 10}}).loudness_lufs,
              -23, 0.1);
  EXPECT_NEAR(*OfTones(kLow, {{-26, 20}, {-20, 20.1}, {-26, 20}}).loudness_lufs, -23, 0.1);
}

TEST(MeasureSound, IsTheSameAtAnyRateAndOneChannelIsHalfOfTwo) {
  for (const int rate : {8'000, 16'000, 24'000, 44'100, 48'000}) {
    EXPECT_NEAR(*OfTones({rate, 2}, {{-23, 5}}).loudness_lufs, -23, 0.1) << rate;
  }
  EXPECT_NEAR(*OfTones({48'000, 1}, {{-23, 5}}).loudness_lufs, -26.01, 0.1);
}

TEST(MeasureSound, FindsPeaksBetweenSamples) {
  EXPECT_NEAR(*OfTones(kStereo, {{-6, 1}}).true_peak_dbtp, -6, 0.1);
  // A quarter of the rate, half way between: no sample is above -9 dBFS, the wave is at -6.
  std::vector<float> samples;
  for (size_t i = 0; i < 48'000; ++i) {
    const double phase = std::numbers::pi / 2 * static_cast<double>(i) + std::numbers::pi / 4;
    const double fade = std::min(1.0, static_cast<double>(std::min(i, 47'999 - i)) / 4800);
    samples.insert(samples.end(), 2, static_cast<float>(0.5 * fade * std::sin(phase)));
  }
  EXPECT_NEAR(*MeasureSound(kStereo, samples).true_peak_dbtp, -6.02, 0.1);
}

TEST(MeasureSound, OfSilenceIsSilentAndHasNeitherLoudnessNorPeak) {
  for (const size_t values : {size_t{0}, size_t{96'000}}) {
    const model::SoundStats stats = MeasureSound(kStereo, std::vector<float>(values, 0.0F));
    EXPECT_EQ(stats.loudness_lufs, std::nullopt);
    EXPECT_EQ(stats.true_peak_dbtp, std::nullopt);
    EXPECT_EQ(stats.silent_share, 1);
    EXPECT_EQ(stats.clipped_samples, 0);
  }
  EXPECT_NEAR(OfTones(kStereo, {{-20, 1}, {-80, 3}}).silent_share, 0.75, 0.01);
  EXPECT_EQ(OfTones(kStereo, {{-20, 0.39}}).loudness_lufs, std::nullopt) << "no block is whole";
  EXPECT_TRUE(OfTones(kStereo, {{-20, 0.41}}).loudness_lufs.has_value());
}

TEST(MeasureSound, CountsSamplesAtFullScaleAndBeyond) {
  std::vector<float> samples(9600, 0.1F);
  EXPECT_EQ(MeasureSound(kStereo, samples).clipped_samples, 0);
  samples[7] = 1;
  samples[8] = -1.5F;
  EXPECT_EQ(MeasureSound(kStereo, samples).clipped_samples, 2);
}

TEST(ChangeTo, BringsASoundToALoudnessAsFarAsItsPeaksLetIt) {
  std::vector<float> samples;
  AddTone(kStereo, 1000, -30, 2, samples);
  const LevelChange louder = ChangeTo(-23, MeasureSound(kStereo, samples));
  EXPECT_FALSE(louder.is_limited);
  for (float& sample : samples) sample *= louder.gain;
  EXPECT_NEAR(*MeasureSound(kStereo, samples).loudness_lufs, -23, 0.01);
  const LevelChange too_loud = ChangeTo(-0.5, MeasureSound(kStereo, samples));
  EXPECT_TRUE(too_loud.is_limited);
  for (float& sample : samples) sample *= too_loud.gain;
  EXPECT_NEAR(*MeasureSound(kStereo, samples).true_peak_dbtp, -1, 0.01);
  EXPECT_EQ(ChangeTo(-23, MeasureSound(kStereo, std::vector<float>(96'000))).gain, 1);
}

// The number behind the last `name` in what the ffmpeg command prints.
double Value(const std::string& text, const std::string& name) {
  const size_t at = text.rfind(name);
  EXPECT_NE(at, std::string::npos) << text;
  return at == std::string::npos ? 0 : std::strtod(text.c_str() + at + name.size(), nullptr);
}

TEST(MeasureSound, IsWhatTheFfmpegCommandMeasures) {
  if (!HaveFfmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  const reel::testing::TempFolder folder;
  std::vector<float> samples;
  uint32_t random = 1;
  float last = 0;
  for (size_t i = 0; i < 48'000 * 6; ++i) {
    random = random * 1664525 + 1013904223;
    const float noise = static_cast<float>(random >> 8) / (1 << 23) - 1;
    last = 0.9F * last + 0.1F * noise;
    const float level = i % 96'000 < 48'000 ? 0.8F : 0.05F;
    samples.push_back(level * last);
    samples.push_back(0.5F * level * noise);
  }
  const std::string raw = folder.Write(
      "a.raw", std::string(reinterpret_cast<const char*>(samples.data()), samples.size() * 4));
  const std::string line =
      absl::StrCat("ffmpeg -hide_banner -nostats -f f32le -ar 48000 -ac 2 -i ", raw,
                   " -af ebur128=peak=true -f null - 2>", folder.File("e"));
  ASSERT_EQ(std::system(line.c_str()), 0) << folder.Read("e");
  const std::string printed = folder.Read("e");
  const model::SoundStats stats = MeasureSound(kStereo, samples);
  EXPECT_NEAR(*stats.loudness_lufs, Value(printed, "I:"), 0.1);
  EXPECT_NEAR(*stats.true_peak_dbtp, Value(printed, "Peak:"), 0.3);
}

}  // namespace
}  // namespace reel::worker
