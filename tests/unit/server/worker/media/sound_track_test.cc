// SPDX-License-Identifier: Apache-2.0
// Files with pictures and sound, judged as players read them.
#include "server/worker/media/sound_track.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "model/testcard/picture.h"
#include "server/worker/media/video_encoder.h"
#include "tests/fakes/decoded_video.h"
#include "tests/fakes/mp4_boxes.h"
#include "tests/unit/server/worker/media/collected_file.h"
#include "tests/unit/server/worker/media/ffprobe.h"

namespace reel::worker {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kSoundSide = 64;
constexpr model::SoundFormat k48kHz = {48'000, 2};

struct SoundFile {
  std::string bytes;
  std::vector<size_t> ends;  // of fragments
  std::string content_type;
  EncodedFile file;
};

// Silence, and a click of one sample at each of these seconds, in both channels.
std::vector<float> Clicks(const model::SoundFormat& format, double seconds,
                          const std::vector<double>& at) {
  const auto channels = static_cast<size_t>(format.channels);
  std::vector<float> samples(static_cast<size_t>(seconds * format.sample_rate) * channels, 0.0F);
  for (const double second : at) {
    const auto sample = static_cast<size_t>(std::lround(second * format.sample_rate));
    for (size_t c = 0; c < channels; ++c) samples[sample * channels + c] = 0.9F;
  }
  return samples;
}

SoundFile EncodeSound(const VideoFormat& format, const std::vector<float>& samples,
                      const FileOrigin& origin = {}) {
  EncoderOptions options;
  options.format = format;
  options.origin = origin;
  options.queue_frames = format.num_frames;
  CollectedFile file;
  VideoEncoder encoder(options, file.Output(), file.Signal());
  if (!samples.empty()) {
    EXPECT_TRUE(encoder.PushSamples({format.sound, samples}).ok());
  }
  const model::TestPicture picture("a fox", 7, kSoundSide, kSoundSide);
  for (int i = 0; i < format.num_frames; ++i) {
    EXPECT_TRUE(PushFrame(encoder, picture, kSoundSide, kSoundSide, i).ok());
  }
  encoder.Finish();
  EXPECT_TRUE(file.WaitForDone(encoder));
  EXPECT_TRUE(encoder.result().ok()) << encoder.result().status();
  const EncodedFile encoded = encoder.result().value_or(EncodedFile());
  return {file.bytes(), file.ends(), encoded.content_type, encoded};
}

VideoFormat FormatOf(const model::SoundFormat& sound, int frames, double frame_rate = 24) {
  VideoFormat format;
  format.width = format.height = kSoundSide;
  format.frame_rate = frame_rate;
  format.sound = sound;
  format.num_frames = frames;
  return format;
}

// Where the loudest sample within 50 ms of `second` is, in seconds; the first channel.
double Loudest(const reel::testing::DecodedVideo& video, double second) {
  const auto rate = static_cast<double>(video.sample_rate);
  const auto first = static_cast<size_t>(std::max(0.0, (second - 0.05) * rate));
  size_t best = first;
  for (size_t i = first; i < first + static_cast<size_t>(0.1 * rate); ++i) {
    const auto at = [&](size_t sample) {
      return std::abs(video.sound[sample * static_cast<size_t>(video.channels)]);
    };
    if ((i + 1) * static_cast<size_t>(video.channels) >= video.sound.size()) break;
    if (at(i) > at(best)) best = i;
  }
  return static_cast<double>(best) / rate;
}

TEST(SoundTrack, WhatIsPushedAtATimeIsHeardAtThatTime) {
  for (const model::SoundFormat& sound :
       {k48kHz, model::SoundFormat{24'000, 2}, model::SoundFormat{16'000, 1}}) {
    const std::vector<double> at = {0.1, 0.5, 1.0, 1.9};
    const SoundFile clip = EncodeSound(FormatOf(sound, 49), Clicks(sound, 49 / 24.0, at));
    const auto video = reel::testing::Decode(clip.bytes);
    ASSERT_TRUE(video.ok()) << video.status();
    EXPECT_EQ(video->luma.size(), 49u);
    EXPECT_EQ(video->sample_rate, sound.sample_rate);
    EXPECT_EQ(video->channels, sound.channels);
    for (const double second : at) {
      EXPECT_NEAR(Loudest(*video, second), second, 1e-3) << sound.sample_rate << " Hz";
    }
  }
}

TEST(SoundTrack, BothTracksBeginAtZeroAndEndTogether) {
  if (!HaveFfprobe()) GTEST_SKIP() << "ffprobe is not installed";
  const SoundFile clip = EncodeSound(FormatOf(k48kHz, 49), Clicks(k48kHz, 49 / 24.0, {1.0}));
  EXPECT_THAT(clip.content_type, HasSubstr(", mp4a.40.2\""));
  EXPECT_EQ(Probe(clip.bytes, "stream=codec_name"), "h264\naac");
  // The edit list puts what the decoder needs in advance, 1,024 samples, before 0.
  EXPECT_EQ(Probe(clip.bytes, "stream=start_time"), "0.000000\n-0.021333");
  const auto video = reel::testing::Decode(clip.bytes);
  ASSERT_TRUE(video.ok()) << video.status();
  // The decoder fills the last packet.
  EXPECT_GE(video->sound.size() / 2, 98'000u);
  EXPECT_LT(video->sound.size() / 2, 98'000u + AacEncoder::kFrameSamples);
}

TEST(SoundTrack, EveryPrefixOfFragmentsHasTheSoundOfItsPictures) {
  for (const model::SoundFormat& sound : {k48kHz, model::SoundFormat{24'000, 2}}) {
    const SoundFile clip = EncodeSound(FormatOf(sound, 25), Clicks(sound, 25 / 24.0, {0.2}));
    const int frames[] = {1, 9, 17, 25};
    ASSERT_EQ(clip.ends.size(), std::size(frames));
    for (size_t i = 0; i < clip.ends.size(); ++i) {
      const auto video =
          reel::testing::Decode(std::string_view(clip.bytes).substr(0, clip.ends[i]));
      ASSERT_TRUE(video.ok()) << "prefix " << i << ": " << video.status();
      EXPECT_EQ(video->luma.size(), static_cast<size_t>(frames[i]));
      EXPECT_GE(static_cast<double>(video->sound.size()) / sound.channels,
                frames[i] / 24.0 * sound.sample_rate)
          << "prefix " << i << " at " << sound.sample_rate << " Hz";
    }
  }
}

TEST(SoundTrack, AFileThatIsCutAtAnyBytePlaysAsFarAsItsFragmentsAreWhole) {
  constexpr size_t kCuts = 97;
  const SoundFile clip = EncodeSound(FormatOf(k48kHz, 25), Clicks(k48kHz, 25 / 24.0, {0.2}));
  const size_t frames[] = {0, 1, 9, 17, 25};
  ASSERT_EQ(clip.ends.size() + 1, std::size(frames));
  size_t most = 0;
  for (size_t i = 1; i <= kCuts; ++i) {
    const size_t bytes = clip.bytes.size() * i / kCuts;
    const auto whole = static_cast<size_t>(
        std::upper_bound(clip.ends.begin(), clip.ends.end(), bytes) - clip.ends.begin());
    const auto video = reel::testing::DecodeStart(std::string_view(clip.bytes).substr(0, bytes));
    EXPECT_GE(video.luma.size(), std::max(frames[whole], most)) << bytes << " bytes";
    EXPECT_GE(video.sound.size() / 2, frames[whole] * 2'000) << bytes << " bytes";
    most = video.luma.size();
  }
  EXPECT_EQ(most, 25u);
}

TEST(SoundTrack, ShortSoundEndsInSilenceAndLongSoundIsCut) {
  std::vector<float> tone(48'000 * 2);
  for (size_t i = 0; i < tone.size(); ++i) {
    tone[i] =
        0.5F * std::sin(2 * std::numbers::pi_v<float> * 440 * static_cast<float>(i / 2) / 48'000);
  }
  for (const int frames : {49, 9}) {  // two seconds, and a third of one
    const auto video = reel::testing::Decode(EncodeSound(FormatOf(k48kHz, frames), tone).bytes);
    ASSERT_TRUE(video.ok()) << video.status();
    const auto end = static_cast<size_t>(frames * 2000);
    EXPECT_GE(video->sound.size() / 2, end);
    EXPECT_LT(video->sound.size() / 2, end + AacEncoder::kFrameSamples);
    for (size_t i = 50'000; i + 2'000 < end; ++i) {
      ASSERT_LT(std::abs(video->sound[2 * i]), 0.01) << "sample " << i;
    }
  }
}

TEST(SoundTrack, IsBroughtToTheLoudnessThatIsAskedForAndMeasured) {
  VideoFormat format = FormatOf(k48kHz, 49);
  std::vector<float> tone;
  for (size_t i = 0; i < 98'000; ++i) {
    const float angle =
        2 * std::numbers::pi_v<float> * 997 * static_cast<float>(i % 48'000) / 48'000;
    tone.insert(tone.end(), 2, 0.01F * std::sin(angle));
  }
  for (const double lufs : {-30.0, -14.0}) {
    format.loudness = lufs;
    const SoundFile clip = EncodeSound(format, tone);
    ASSERT_TRUE(clip.file.sound_stats.has_value());
    EXPECT_NEAR(*clip.file.sound_stats->loudness_lufs, lufs, 0.01);
    EXPECT_FALSE(clip.file.is_limited);
    const auto video = reel::testing::Decode(clip.bytes);
    ASSERT_TRUE(video.ok()) << video.status();
    const model::SoundStats heard = MeasureSound(k48kHz, video->sound);
    EXPECT_NEAR(*heard.loudness_lufs, lufs, 0.2) << "as a player hears it";
  }
  format.loudness = -5;
  tone[48'000] = 0.9F;  // one sample keeps all others down
  const SoundFile clip = EncodeSound(format, tone);
  EXPECT_TRUE(clip.file.is_limited);
  EXPECT_NEAR(*clip.file.sound_stats->true_peak_dbtp, -1, 0.1);
  EXPECT_EQ(clip.file.sound_stats->clipped_samples, 0);
}

TEST(SoundTrack, IsMeasuredAndLeftAsItIsUnlessALoudnessIsAskedFor) {
  const VideoFormat format = FormatOf(k48kHz, 49);
  const SoundFile clip = EncodeSound(format, Clicks(k48kHz, 49 / 24.0, {0.5}));
  ASSERT_TRUE(clip.file.sound_stats.has_value());
  EXPECT_GT(clip.file.sound_stats->silent_share, 0.99);
  EXPECT_FALSE(clip.file.is_limited);
  const SoundFile silence = EncodeSound(format, {});
  ASSERT_TRUE(silence.file.sound_stats.has_value());
  EXPECT_EQ(silence.file.sound_stats->silent_share, 1);
  EXPECT_EQ(silence.file.sound_stats->loudness_lufs, std::nullopt);
}

TEST(SoundTrack, AVideoWhoseModelPushesNoSoundIsSilent) {
  const auto video = reel::testing::Decode(EncodeSound(FormatOf(k48kHz, 9), {}).bytes);
  ASSERT_TRUE(video.ok()) << video.status();
  EXPECT_EQ(video->channels, 2);
  for (const float sample : video->sound) ASSERT_EQ(sample, 0);
}

TEST(SoundTrack, KeepsInStepAtFrameRatesThatAreNoWholeNumbers) {
  const double rate = 23.976;
  const SoundFile clip =
      EncodeSound(FormatOf(k48kHz, 97, rate), Clicks(k48kHz, 97 / rate, {0.5, 3.9}));
  const auto video = reel::testing::Decode(clip.bytes);
  ASSERT_TRUE(video.ok()) << video.status();
  EXPECT_NEAR(Loudest(*video, 3.9), 3.9, 1e-3);
}

TEST(SoundTrack, SaysHowTheFileWasMadeBehindItsHeadAndChangesNothingElse) {
  const std::vector<float> samples = Clicks(k48kHz, 1, {0.3});
  const VideoFormat format = FormatOf(k48kHz, 25);
  const SoundFile clip = EncodeSound(format, samples, {.mark = "<x/>", .origin = "{}"});
  EXPECT_THAT(mp4::TypesOf(clip.bytes), StartsWith("ftyp moov uuid uuid moof mdat moof"));
  std::string rest = clip.bytes;
  const auto boxes = mp4::BoxesOf(clip.bytes);
  ASSERT_GE(boxes.size(), 4u);
  rest.erase(boxes[2].begin, boxes[3].end - boxes[2].begin);
  EXPECT_EQ(rest, EncodeSound(format, samples).bytes);
  for (const size_t end : clip.ends) {
    const auto video = reel::testing::Decode(std::string_view(clip.bytes).substr(0, end));
    EXPECT_TRUE(video.ok()) << video.status();
  }
}

TEST(SoundTrack, TheSameSoundGivesTheSameBytes) {
  const std::vector<float> samples = Clicks(k48kHz, 1, {0.3, 0.7});
  EXPECT_EQ(EncodeSound(FormatOf(k48kHz, 25), samples).bytes,
            EncodeSound(FormatOf(k48kHz, 25), samples).bytes);
}

// An encoder of 49 frames, two seconds, whose sound comes in parts.
class SoundInParts : public ::testing::Test {
 protected:
  explicit SoundInParts(std::optional<double> loudness = std::nullopt) {
    format_.loudness = loudness;
    options_.format = format_;
    options_.queue_frames = format_.num_frames;
    encoder_ = std::make_unique<VideoEncoder>(options_, file_.Output(), file_.Signal());
  }
  // Number of samples up to this frame's end, plus those that files carry ahead.
  static size_t SamplesFor(int frames) {
    return static_cast<size_t>(frames * 2'000 + model::kSoundAhead) * 2;
  }
  absl::Status PushSound(size_t begin, size_t end, bool is_last) {
    end = std::min(end, samples_.size());
    return encoder_->PushSamples(
        {k48kHz, absl::MakeConstSpan(samples_).subspan(begin, end - begin), is_last});
  }
  void PushFrames(int begin, int end) {
    const model::TestPicture picture("a fox", 7, kSoundSide, kSoundSide);
    for (int i = begin; i < end; ++i) {
      ASSERT_TRUE(PushFrame(*encoder_, picture, kSoundSide, kSoundSide, i).ok());
    }
  }
  void End() {
    encoder_->Finish();
    ASSERT_TRUE(file_.WaitForDone(*encoder_));
  }

  VideoFormat format_ = FormatOf(k48kHz, 49);
  const std::vector<float> samples_ = Clicks(k48kHz, 49 / 24.0 - 0.03, {0.1, 0.5, 1.0, 1.9});
  EncoderOptions options_;
  CollectedFile file_;
  std::unique_ptr<VideoEncoder> encoder_;
};

class SoundInPartsOfALoudness : public SoundInParts {
 protected:
  SoundInPartsOfALoudness() : SoundInParts(-30) {}
};

TEST_F(SoundInParts, LetsFragmentsLeaveBeforeItsEndAndGivesTheSameBytes) {
  ASSERT_TRUE(PushSound(0, SamplesFor(17), false).ok());
  PushFrames(0, 17);
  ASSERT_TRUE(file_.WaitForFragments(3));
  const auto video = reel::testing::Decode(file_.bytes());
  ASSERT_TRUE(video.ok()) << video.status();
  EXPECT_EQ(video->luma.size(), 17u);
  EXPECT_GE(video->sound.size() / 2, 17 * 2'000u);
  ASSERT_TRUE(PushSound(SamplesFor(17), SamplesFor(25), false).ok());
  PushFrames(17, 25);
  ASSERT_TRUE(file_.WaitForFragments(4));
  ASSERT_TRUE(PushSound(SamplesFor(25), samples_.size(), true).ok());
  PushFrames(25, 49);
  End();
  const SoundFile whole = EncodeSound(format_, samples_);
  EXPECT_EQ(file_.bytes(), whole.bytes);
  EXPECT_EQ(file_.ends(), whole.ends);
  const auto encoded = encoder_->result();
  ASSERT_TRUE(encoded.ok()) << encoded.status();
  ASSERT_TRUE(encoded->sound_stats.has_value());
  EXPECT_EQ(encoded->sound_stats->true_peak_dbtp, whole.file.sound_stats->true_peak_dbtp);
  EXPECT_EQ(encoded->sound_stats->silent_share, whole.file.sound_stats->silent_share);
  EXPECT_EQ(encoded->sound_stats->loudness_lufs, whole.file.sound_stats->loudness_lufs);
}

TEST_F(SoundInParts, HoldsAFrameThatComesBeforeItsSound) {
  ASSERT_TRUE(PushSound(0, SamplesFor(1), false).ok());
  PushFrames(0, 49);
  ASSERT_TRUE(file_.WaitForFragments(1));
  ASSERT_TRUE(PushSound(SamplesFor(1), samples_.size(), true).ok());
  End();
  EXPECT_EQ(file_.bytes(), EncodeSound(format_, samples_).bytes);
}

TEST_F(SoundInParts, EndsInAnErrorIfItsLastPartNeverComes) {
  ASSERT_TRUE(PushSound(0, SamplesFor(17), false).ok());
  PushFrames(0, 49);
  End();
  EXPECT_EQ(encoder_->result().status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(encoder_->result().status().message(), HasSubstr("before their sound"));
}

TEST_F(SoundInParts, IsAbandonedWhileAFrameWaitsForIt) {
  ASSERT_TRUE(PushSound(0, SamplesFor(1), false).ok());
  PushFrames(0, 9);
  ASSERT_TRUE(file_.WaitForFragments(1));
  encoder_->Abandon();
  ASSERT_TRUE(file_.WaitForDone(*encoder_));
  EXPECT_EQ(encoder_->result().status().code(), absl::StatusCode::kCancelled);
}

TEST_F(SoundInParts, TakesNoMoreBehindItsLastPart) {
  ASSERT_TRUE(PushSound(0, SamplesFor(1), true).ok());
  PushFrames(0, 1);
  EXPECT_EQ(PushSound(0, 2, true).code(), absl::StatusCode::kInternal);
}

TEST_F(SoundInPartsOfALoudness, WaitsForAllOfItAndGivesTheSameBytes) {
  ASSERT_TRUE(PushSound(0, SamplesFor(17), false).ok());
  PushFrames(0, 17);
  ASSERT_TRUE(PushSound(SamplesFor(17), samples_.size(), true).ok());
  PushFrames(17, 49);
  End();
  EXPECT_EQ(file_.bytes(), EncodeSound(format_, samples_).bytes);
}

TEST(SoundTrack, RefusesSoundThatTheFileIsNotToHave) {
  EncoderOptions options;
  options.format = FormatOf({}, 9);
  VideoEncoder silent(options, [](int64_t, std::string, bool) {}, [] {});
  const std::vector<float> samples(96, 0.0F);
  EXPECT_FALSE(silent.PushSamples({k48kHz, samples}).ok());
  options.format.sound = {24'000, 2};
  VideoEncoder other(options, [](int64_t, std::string, bool) {}, [] {});
  EXPECT_FALSE(other.PushSamples({k48kHz, samples}).ok());
  EXPECT_FALSE(AacEncoder::Open({48'000, 6}).ok());
}

TEST(SoundTrack, RefusesSoundBehindAFrame) {
  EncoderOptions options;
  options.format = FormatOf(k48kHz, 9);
  VideoEncoder encoder(options, [](int64_t, std::string, bool) {}, [] {});
  const model::TestPicture picture("a fox", 7, kSoundSide, kSoundSide);
  ASSERT_TRUE(PushFrame(encoder, picture, kSoundSide, kSoundSide, 0).ok());
  const std::vector<float> samples(96, 0.0F);
  EXPECT_FALSE(encoder.PushSamples({k48kHz, samples}).ok());
}

}  // namespace
}  // namespace reel::worker
