// SPDX-License-Identifier: Apache-2.0
// Files that begin with another's fragments, as players and their bytes show them.
#include "server/worker/media/file_begin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "server/worker/media/video_encoder.h"
#include "tests/fakes/decoded_video.h"
#include "tests/fakes/mp4_boxes.h"
#include "tests/unit/server/worker/media/collected_file.h"
#include "tests/unit/server/worker/media/ffprobe.h"

namespace reel::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kJoinSide = 64;
constexpr model::SoundFormat kJoinSound = {24'000, 2};

VideoFormat JoinFormat(int frames, bool sounds = true) {
  VideoFormat format;
  format.width = format.height = kJoinSide;
  format.num_frames = frames;
  if (sounds) format.sound = kJoinSound;
  return format;
}

// A hum that rises in steps and clicks now and then, from this second on. Whatever is made from the
// same second on sounds the same.
std::vector<float> HumFrom(double second, double seconds) {
  std::vector<float> samples;
  const auto first = std::llround(second * kJoinSound.sample_rate);
  const auto count = std::llround(seconds * kJoinSound.sample_rate);
  for (int64_t at = first; at < first + count; ++at) {
    const double time = static_cast<double>(at) / kJoinSound.sample_rate;
    const double pitch = 220 * (1 + std::floor(time * 4) / 8);
    double value = 0.3 * std::sin(2 * std::numbers::pi * pitch * time);
    if (at % 7'919 < 30) value += 0.5;
    samples.insert(samples.end(), {static_cast<float>(value), static_cast<float>(-value)});
  }
  return samples;
}

struct JoinedFile {
  std::string bytes;
  std::vector<size_t> ends;  // of fragments
  absl::StatusOr<EncodedFile> result = EncodedFile();
};

// The file of so many pictures from number `first` on, under these samples.
JoinedFile EncodeWith(EncoderOptions options, int first, int frames,
                      const std::vector<float>& samples) {
  options.queue_frames = frames;
  CollectedFile file;
  VideoEncoder encoder(options, file.Output(), file.Signal());
  if (!samples.empty()) {
    EXPECT_TRUE(encoder.PushSamples({kJoinSound, samples}).ok());
  }
  const model::TestPicture picture("a fox", 7, kJoinSide, kJoinSide);
  for (int i = first; i < first + frames; ++i) {
    EXPECT_TRUE(PushFrame(encoder, picture, kJoinSide, kJoinSide, i).ok());
  }
  encoder.Finish();
  EXPECT_TRUE(file.WaitForDone(encoder));
  return {file.bytes(), file.ends(), encoder.result()};
}

// The same under the hum, or without sound.
JoinedFile Encode(const EncoderOptions& options, int first, int frames) {
  const bool sounds = options.format.sound.exists();
  return EncodeWith(options, first, frames,
                    sounds ? HumFrom(first / 24.0, frames / 24.0) : std::vector<float>());
}

JoinedFile Whole(int frames, bool sounds = true) {
  return Encode({.format = JoinFormat(frames, sounds)}, 0, frames);
}

// So many frames behind a file's, of which `overlap` are made once more.
JoinedFile Extended(const std::string& source, int source_frames, int overlap, int more,
                    EncoderOptions options) {
  FileBegin begin;
  begin.file = std::make_shared<const std::string>(source);
  begin.first_made = source_frames - overlap;
  begin.frames = FragmentEndFrom(begin.first_made);
  options.begin = begin;
  return Encode(std::move(options), begin.first_made, overlap + more);
}

uint32_t FrameOf(const std::vector<uint8_t>& luma) {
  const auto code = model::DecodeCode(luma, kJoinSide, kJoinSide, kJoinSide);
  return code ? static_cast<uint32_t>(code->frame) : 9999;
}

double LargestDifference(const std::vector<float>& a, const std::vector<float>& b, size_t begin,
                         size_t end) {
  double largest = 0;
  for (size_t i = begin; i < std::min({end, a.size(), b.size()}); ++i) {
    largest = std::max(largest, static_cast<double>(std::abs(a[i] - b[i])));
  }
  return largest;
}

TEST(FragmentEnds, AreAfterTheFirstFrameAndEveryEightBehindIt) {
  const auto up_to = [](int frames) { return FragmentEndUpTo(frames); };
  EXPECT_THAT((std::vector{up_to(-1), up_to(0), up_to(1), up_to(8), up_to(9), up_to(24)}),
              ElementsAre(0, 0, 1, 1, 9, 17));
  const auto from = [](int frames) { return FragmentEndFrom(frames); };
  EXPECT_THAT((std::vector{from(0), from(1), from(2), from(9), from(10), from(24)}),
              ElementsAre(1, 1, 9, 9, 17, 25));
}

TEST(JoinedFiles, BeginWithTheSourcesFragmentsAndPlayThrough) {
  const JoinedFile source = Whole(49);
  const JoinedFile joined = Extended(source.bytes, 49, 25, 24, {.format = JoinFormat(73)});
  ASSERT_TRUE(joined.result.ok()) << joined.result.status();
  EXPECT_EQ(joined.result->num_frames, 73);
  EXPECT_EQ(joined.result->size_bytes, static_cast<int64_t>(joined.bytes.size()));
  EXPECT_EQ(joined.result->duration, absl::Seconds(73 / 24.0));
  const size_t seam = source.ends[3];  // after frames 1, 9, 17 and 25
  EXPECT_EQ(joined.bytes.substr(0, seam), source.bytes.substr(0, seam));
  EXPECT_EQ(joined.ends.size(), 10U) << "it streams by fragments as any file does";
  EXPECT_EQ(joined.ends[3], seam);

  const auto played = reel::testing::Decode(joined.bytes);
  ASSERT_TRUE(played.ok()) << played.status();
  const auto before = reel::testing::Decode(source.bytes);
  ASSERT_TRUE(before.ok()) << before.status();
  ASSERT_EQ(played->luma.size(), 73U);
  for (size_t i = 0; i < 73; ++i) EXPECT_EQ(FrameOf(played->luma[i]), i);
  for (size_t i = 0; i < 25; ++i) EXPECT_EQ(played->luma[i], before->luma[i]) << i;
  EXPECT_EQ(reel::mp4::TypesOf(joined.bytes).find("moov", 10), std::string::npos);
}

TEST(JoinedFiles, HaveTimesAndNumbersThatOnlyGoOn) {
  const JoinedFile source = Whole(49);
  const JoinedFile joined = Extended(source.bytes, 49, 25, 24, {.format = JoinFormat(73)});
  const auto parts = ReadFragments(joined.bytes);
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ(parts->num_frames(), 73);
  TrackRun pictures, sound;
  for (const Fragment& fragment : parts->fragments) {
    EXPECT_EQ(fragment.pictures.begin, pictures.end);
    pictures = fragment.pictures;
    if (fragment.sound.samples == 0) continue;
    EXPECT_EQ(fragment.sound.begin, sound.end);
    sound = fragment.sound;
  }
  EXPECT_EQ(sound.end, 1024 + 73'000) << "what the decoder needs in advance, and 73 frames";
  if (!HaveFfprobe()) GTEST_SKIP() << "ffprobe is not installed";
  EXPECT_EQ(Probe(joined.bytes, "stream=start_time"), "0.000000\n-0.042667");
  EXPECT_EQ(Probe(joined.bytes, "stream=codec_name"), "h264\naac");
}

TEST(JoinedFiles, SoundTheSameAcrossTheSeamAsAFileMadeInOne) {
  const JoinedFile source = Whole(49), one = Whole(73);
  const JoinedFile joined = Extended(source.bytes, 49, 25, 24, {.format = JoinFormat(73)});
  const auto played = reel::testing::Decode(joined.bytes);
  const auto before = reel::testing::Decode(source.bytes);
  const auto whole = reel::testing::Decode(one.bytes);
  ASSERT_TRUE(played.ok() && before.ok() && whole.ok());
  EXPECT_EQ(played->sound.size(), whole->sound.size());
  const auto taken = TakenBegin::Open(
      {.file = std::make_shared<const std::string>(source.bytes), .frames = 25, .first_made = 24});
  ASSERT_TRUE(taken.ok()) << taken.status();
  // The last packet that is taken is heard with the next one.
  const size_t seam = 2 * 1024 * static_cast<size_t>(taken->packets() - 1);
  EXPECT_EQ(LargestDifference(played->sound, before->sound, 0, seam), 0);
  const std::vector<float> made = HumFrom(0, 73 / 24.0);
  const double inside = LargestDifference(whole->sound, made, 0, made.size());
  EXPECT_LE(LargestDifference(played->sound, made, 0, made.size()), 1.1 * inside)
      << "no further from what was made than any encoding is";
}

// Where the encoder changes to short windows for it, packets of both sides must still fit together.
TEST(JoinedFiles, SoundTheSameWhereverAClickIsAtTheSeam) {
  constexpr int kFrames = 33, kJoined = 41;
  double of_joined = 0, of_one = 0;
  for (int click = 12'000 - 2'048; click < 12'000 + 4'096; click += 512) {
    const auto sound = [&](int first, int frames) {
      std::vector<float> samples = HumFrom(first / 24.0, frames / 24.0);
      for (auto at = static_cast<size_t>(click - first * 1'000); at < samples.size() / 2; ++at) {
        if (at < static_cast<size_t>(click - first * 1'000) + 20) samples[2 * at] += 0.6F;
      }
      return samples;
    };
    const std::string source =
        EncodeWith({.format = JoinFormat(kFrames)}, 0, kFrames, sound(0, kFrames)).bytes;
    FileBegin begin{std::make_shared<const std::string>(source), 9, 8};
    EncoderOptions options{.format = JoinFormat(kJoined)};
    options.begin = begin;
    const std::string joined = EncodeWith(options, 8, kJoined - 8, sound(8, kJoined - 8)).bytes;
    const std::string one =
        EncodeWith({.format = JoinFormat(kJoined)}, 0, kJoined, sound(0, kJoined)).bytes;
    const auto played = reel::testing::Decode(joined), whole = reel::testing::Decode(one);
    ASSERT_TRUE(played.ok() && whole.ok());
    const std::vector<float> made = sound(0, kJoined);
    const size_t seam = 2 * 1024 * static_cast<size_t>(TakenBegin::Open(begin)->packets() - 1);
    const auto farthest = [&](const std::vector<float>& heard) {
      return LargestDifference(heard, made, seam - 4'096, seam + 8'192);
    };
    of_joined = std::max(of_joined, farthest(played->sound));
    of_one = std::max(of_one, farthest(whole->sound));
  }
  EXPECT_LE(of_joined, 1.1 * of_one) << "no further from what was made than any encoding is";
}

TEST(JoinedFiles, GoOverFromOneSoundToAnotherWithoutAStep) {
  const JoinedFile source = Whole(49);
  EncoderOptions options{.format = JoinFormat(73)};
  options.begin = FileBegin{std::make_shared<const std::string>(source.bytes), 25, 24};
  const std::vector<float> silence(size_t{2} * 49'000, 0.0F);
  const auto played = reel::testing::Decode(EncodeWith(options, 24, 49, silence).bytes);
  ASSERT_TRUE(played.ok()) << played.status();
  // The hum's own largest step is its click's.
  const auto step = [&](size_t begin_at, size_t end_at) {
    double largest = 0;
    for (size_t i = begin_at; i + 2 < end_at; i += 2) {
      largest =
          std::max(largest, static_cast<double>(std::abs(played->sound[i + 2] - played->sound[i])));
    }
    return largest;
  };
  EXPECT_LE(step(2 * 25'000, 2 * 32'000), step(0, 2 * 25'000));
  EXPECT_LT(LargestDifference(played->sound, silence, 2 * 33'000, 2 * 70'000), 1e-3);
}

TEST(JoinedFiles, CanBeJoinedToAgain) {
  std::string last = Whole(25).bytes;
  for (int frames = 25; frames < 97; frames += 24) {
    const JoinedFile joined = Extended(last, frames, 17, 24, {.format = JoinFormat(frames + 24)});
    ASSERT_TRUE(joined.result.ok()) << joined.result.status();
    last = joined.bytes;
  }
  const auto played = reel::testing::Decode(last);
  ASSERT_TRUE(played.ok()) << played.status();
  ASSERT_EQ(played->luma.size(), 97U);
  for (size_t i = 0; i < 97; ++i) EXPECT_EQ(FrameOf(played->luma[i]), i);
}

TEST(JoinedFiles, WithoutSoundTakeTheSourceUpToItsEnd) {
  const JoinedFile source = Whole(9, false);
  const JoinedFile joined = Extended(source.bytes, 9, 1, 8, {.format = JoinFormat(17, false)});
  ASSERT_TRUE(joined.result.ok()) << joined.result.status();
  EXPECT_EQ(joined.bytes.substr(0, source.bytes.size()), source.bytes);
  EXPECT_EQ(joined.bytes, Whole(17, false).bytes) << "as if it had been made in one";
}

TEST(JoinedFiles, AreTheSameWithAnyNumberOfLanes) {
  const JoinedFile source = Whole(25);
  const auto with = [&](int lanes) {
    return Extended(source.bytes, 25, 17, 24, {.format = JoinFormat(49), .lanes = lanes}).bytes;
  };
  EXPECT_EQ(with(1), with(3));
}

TEST(JoinedFiles, SayHowTheyWereMadeThemselves) {
  const FileOrigin theirs{.mark = "<theirs/>", .origin = ""}, own{.mark = "<own/>", .origin = ""};
  const JoinedFile source = Encode({.format = JoinFormat(25), .origin = theirs}, 0, 25);
  const JoinedFile joined =
      Extended(source.bytes, 25, 17, 8, {.format = JoinFormat(33), .origin = own});
  EXPECT_EQ(reel::mp4::UuidPayload(joined.bytes, reel::mp4::kXmpUuid), "<own/>");
  EXPECT_EQ(joined.bytes.find("<theirs/>"), std::string::npos);
}

TEST(JoinedFiles, RefuseASourceOfOtherSettingsOrADamagedOne) {
  const JoinedFile source = Whole(25);
  const auto why = [&](std::string bytes, const VideoFormat& format, int frames = 9) {
    const FileBegin begin{std::make_shared<const std::string>(std::move(bytes)), frames, 8};
    return std::string(CheckBegin(begin, format).message());
  };
  EXPECT_EQ(why(source.bytes, JoinFormat(49)), "");
  VideoFormat other = JoinFormat(49);
  other.width = 128;
  EXPECT_THAT(why(source.bytes, other), HasSubstr("other settings"));
  other = JoinFormat(49);
  other.frame_rate = 25;
  EXPECT_THAT(why(source.bytes, other), HasSubstr("other settings"));
  EXPECT_THAT(why(source.bytes, JoinFormat(49, false)), HasSubstr("other settings"));
  EXPECT_THAT(why(source.bytes, JoinFormat(49), 10), HasSubstr("ends after 10 frames"));
  EXPECT_THAT(why(source.bytes, JoinFormat(49), 33), HasSubstr("ends after 33 frames"));
  EXPECT_THAT(why("", JoinFormat(49)), HasSubstr("none that this server has written"));
  for (size_t size = 1; size < source.bytes.size(); size += 97) {
    if (std::ranges::find(source.ends, size) != source.ends.end()) continue;
    EXPECT_FALSE(ReadFragments(source.bytes.substr(0, size)).ok()) << size;
  }
  for (size_t at = 0; at < source.bytes.size(); at += 7) {
    std::string changed = source.bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0xFF);
    static_cast<void>(ReadFragments(changed));  // whatever it says
  }
}

}  // namespace
}  // namespace reel::worker
