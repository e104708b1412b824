// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/video_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "model/testcard/picture.h"
#include "tests/fakes/decoded_video.h"
#include "tests/fakes/mp4_boxes.h"
#include "tests/unit/server/worker/media/collected_file.h"
#include "tests/unit/server/worker/media/ffprobe.h"

namespace reel::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

EncoderOptions Options(int width, int height) {
  EncoderOptions options;
  options.format.width = width;
  options.format.height = height;
  return options;
}

struct Encoded {
  std::string bytes;
  std::vector<size_t> ends;
  EncodedFile file;
};

Encoded EncodeClip(EncoderOptions options, int frames) {
  const int width = options.format.width, height = options.format.height;
  options.queue_frames = frames;
  CollectedFile file;
  VideoEncoder encoder(options, file.Output(), file.Signal());
  const model::TestPicture picture("a fox", 7, width, height);
  for (int i = 0; i < frames; ++i) {
    EXPECT_TRUE(PushFrame(encoder, picture, width, height, i).ok());
  }
  encoder.Finish();
  EXPECT_TRUE(file.WaitForDone(encoder));
  EXPECT_TRUE(encoder.result().ok()) << encoder.result().status();
  return {file.bytes(), file.ends(), encoder.result().value_or(EncodedFile())};
}

void ExpectCodes(const reel::testing::DecodedVideo& video, int frames) {
  ASSERT_EQ(video.luma.size(), static_cast<size_t>(frames));
  const uint32_t hash = model::PictureHash("a fox", 7, video.width, video.height);
  for (int i = 0; i < frames; ++i) {
    EXPECT_EQ(model::DecodeCode(video.luma[static_cast<size_t>(i)], video.width, video.width,
                                video.height),
              (model::PictureCode{hash, i}))
        << "frame " << i;
  }
}

TEST(VideoEncoder, EveryPrefixThatEndsWithAFragmentPlays) {
  const Encoded clip = EncodeClip(Options(128, 64), 30);
  ASSERT_EQ(clip.ends.size(), 5u);
  const int frames[] = {1, 9, 17, 25, 30};
  for (size_t i = 0; i < clip.ends.size(); ++i) {
    const auto video = reel::testing::Decode(std::string_view(clip.bytes).substr(0, clip.ends[i]));
    ASSERT_TRUE(video.ok()) << "prefix " << i << ": " << video.status();
    ExpectCodes(*video, frames[i]);
  }
  const auto cut = std::string_view(clip.bytes).substr(0, clip.ends[2] - 100);
  EXPECT_FALSE(reel::testing::Decode(cut).ok()) << "the judge hears nothing";
  EXPECT_EQ(clip.ends.back(), clip.bytes.size());
}

TEST(VideoEncoder, TheFileIsWhatItSaysItIs) {
  if (!HaveFfprobe()) GTEST_SKIP() << "ffprobe is not installed";
  EncoderOptions options = Options(384, 256);
  options.format.frame_rate = 25;
  const Encoded clip = EncodeClip(options, 50);
  EXPECT_EQ(clip.file.size_bytes, static_cast<int64_t>(clip.bytes.size()));
  EXPECT_EQ(clip.file.duration, absl::Seconds(2));
  EXPECT_THAT(clip.file.content_type, HasSubstr("video/mp4; codecs=\"avc1.64"));
  EXPECT_EQ(Probe(clip.bytes, "stream=nb_read_frames"), "50");
  EXPECT_EQ(Probe(clip.bytes, "stream=r_frame_rate"), "25/1");
  EXPECT_EQ(Probe(clip.bytes, "stream=has_b_frames"), "0");
  EXPECT_EQ(Probe(clip.bytes, "stream=color_range"), "tv");
  EXPECT_EQ(Probe(clip.bytes, "stream=color_space,color_transfer,color_primaries"),
            "bt709\nbt709\nbt709");
  double seconds = 0, start = 1;
  ASSERT_TRUE(absl::SimpleAtod(Probe(clip.bytes, "format=duration"), &seconds));
  EXPECT_NEAR(seconds, 2, 1e-3);
  ASSERT_TRUE(absl::SimpleAtod(Probe(clip.bytes, "format=start_time"), &start));
  EXPECT_EQ(start, 0);
}

TEST(VideoEncoder, KeepsOddFrameRates) {
  if (!HaveFfprobe()) GTEST_SKIP() << "ffprobe is not installed";
  EncoderOptions options = Options(64, 64);
  options.format.frame_rate = 23.976;
  EXPECT_EQ(Probe(EncodeClip(options, 3).bytes, "stream=avg_frame_rate"), "2997/125");
}

TEST(VideoEncoder, TheCodeSurvivesEveryQualityAndSize) {
  for (const int crf : {0, 18, 30}) {
    for (const auto& [width, height] :
         {std::pair(32, 32), std::pair(96, 64), std::pair(384, 256)}) {
      EncoderOptions options = Options(width, height);
      options.format.crf = crf;
      const auto video = reel::testing::Decode(EncodeClip(options, 14).bytes);
      ASSERT_TRUE(video.ok()) << width << "x" << height << " crf " << crf << ": " << video.status();
      ExpectCodes(*video, 14);
    }
  }
}

TEST(VideoEncoder, BytesLeaveBeforeLaterFramesExist) {
  CollectedFile file;
  VideoEncoder encoder(Options(64, 64), file.Output(), file.Signal());
  const model::TestPicture picture("a fox", 7, 64, 64);
  ASSERT_TRUE(PushFrame(encoder, picture, 64, 64, 0).ok());
  EXPECT_TRUE(file.WaitForFragments(1));
  for (int i = 1; i <= 8; ++i) ASSERT_TRUE(PushFrame(encoder, picture, 64, 64, i).ok());
  EXPECT_TRUE(file.WaitForFragments(2));
}

TEST(VideoEncoder, TheSameFramesGiveTheSameBytesInAnyNumberOfLanes) {
  EncoderOptions options = Options(384, 256);
  const std::string alone = EncodeClip(options, 42).bytes;
  for (const int lanes : {1, 2, 5}) {
    options.lanes = lanes;
    EXPECT_EQ(EncodeClip(options, 42).bytes, alone) << lanes << " lanes";
  }
}

TEST(VideoEncoder, EveryFragmentBeginsWithAKeyFrameButTheSecond) {
  if (!HaveFfprobe()) GTEST_SKIP() << "ffprobe is not installed";
  const std::string keys = Probe(EncodeClip(Options(64, 64), 26).bytes, "packet=flags");
  std::vector<size_t> at;
  const std::vector<std::string> flags = absl::StrSplit(keys, '\n');
  for (size_t i = 0; i < flags.size(); ++i) {
    if (flags[i].starts_with('K')) at.push_back(i);
  }
  EXPECT_THAT(at, ElementsAre(0, 9, 17, 25));
}

TEST(VideoEncoder, SaysHowTheFileWasMadeBehindItsHeadAndChangesNothingElse) {
  EncoderOptions options = Options(128, 64);
  const Encoded plain = EncodeClip(options, 30);
  EXPECT_THAT(mp4::TypesOf(plain.bytes), StartsWith("ftyp moov moof mdat moof"));
  options.origin = {.mark = "<x:xmpmeta/>", .origin = R"({"spec":{}})"};
  const Encoded clip = EncodeClip(options, 30);
  EXPECT_THAT(mp4::TypesOf(clip.bytes), StartsWith("ftyp moov uuid uuid moof mdat moof"));
  EXPECT_EQ(mp4::UuidPayload(clip.bytes, mp4::kXmpUuid), "<x:xmpmeta/>");
  EXPECT_EQ(mp4::UuidPayload(clip.bytes, mp4::kOriginUuid), R"({"spec":{}})");
  std::string rest = clip.bytes;
  const auto boxes = mp4::BoxesOf(clip.bytes);
  ASSERT_GE(boxes.size(), 4u);
  rest.erase(boxes[2].begin, boxes[3].end - boxes[2].begin);
  EXPECT_EQ(rest, plain.bytes);
  EXPECT_EQ(clip.file.size_bytes, static_cast<int64_t>(clip.bytes.size()));
  for (const size_t end : clip.ends) {
    const auto video = reel::testing::Decode(std::string_view(clip.bytes).substr(0, end));
    EXPECT_TRUE(video.ok()) << video.status();
  }
}

TEST(VideoEncoder, HasNoRoomWhileNobodyTakesItsBytes) {
  CollectedFile file;
  file.Hold();
  EncoderOptions options = Options(64, 64);
  options.queue_frames = 3;
  VideoEncoder encoder(options, file.Output(), file.Signal());
  const model::TestPicture picture("a fox", 7, 64, 64);
  ASSERT_TRUE(PushFrame(encoder, picture, 64, 64, 0).ok());
  ASSERT_TRUE(file.WaitForCalls(1));
  int pushed = 1;
  while (encoder.HasRoom() && pushed < 100) {
    ASSERT_TRUE(PushFrame(encoder, picture, 64, 64, pushed++).ok());
  }
  EXPECT_EQ(pushed, 4);
  file.Release();
  EXPECT_TRUE(file.WaitUntil([&] { return encoder.HasRoom(); }));
  encoder.Finish();
  ASSERT_TRUE(file.WaitForDone(encoder));
  EXPECT_EQ(encoder.result()->num_frames, 4);
}

TEST(VideoEncoder, AbandoningReturnsAtOnceAndStopsTheBytes) {
  CollectedFile file;
  file.Hold();
  auto encoder = std::make_unique<VideoEncoder>(Options(64, 64), file.Output(), file.Signal());
  const model::TestPicture picture("a fox", 7, 64, 64);
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(PushFrame(*encoder, picture, 64, 64, i).ok());
  ASSERT_TRUE(file.WaitForCalls(1));
  encoder->Abandon();
  EXPECT_FALSE(encoder->done());
  file.Release();
  ASSERT_TRUE(file.WaitForDone(*encoder));
  EXPECT_EQ(encoder->result().status().code(), absl::StatusCode::kCancelled);
  encoder.reset();
  EXPECT_EQ(file.calls(), 1);
}

TEST(VideoEncoder, ReportsWhatItCannotEncode) {
  CollectedFile file;
  EncoderOptions options = Options(64, 64);
  options.format.preset = "warp";
  VideoEncoder encoder(options, file.Output(), file.Signal());
  ASSERT_TRUE(file.WaitForDone(encoder));
  EXPECT_EQ(encoder.result().status().code(), absl::StatusCode::kInternal);
  EXPECT_TRUE(encoder.HasRoom());
  const model::TestPicture picture("a fox", 7, 64, 64);
  EXPECT_EQ(PushFrame(encoder, picture, 64, 64, 0), encoder.result().status());
  EXPECT_EQ(file.calls(), 0);
}

TEST(VideoEncoder, RefusesFramesOfAnotherShape) {
  CollectedFile file;
  VideoEncoder encoder(Options(64, 64), file.Output(), file.Signal());
  const model::TestPicture picture("a fox", 7, 96, 64);
  EXPECT_FALSE(PushFrame(encoder, picture, 96, 64, 0).ok());
}

TEST(VideoEncoder, AFileWithoutFramesIsAnError) {
  CollectedFile file;
  VideoEncoder encoder(Options(64, 64), file.Output(), file.Signal());
  encoder.Finish();
  ASSERT_TRUE(file.WaitForDone(encoder));
  EXPECT_FALSE(encoder.result().ok());
}

}  // namespace
}  // namespace reel::worker
