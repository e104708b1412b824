// SPDX-License-Identifier: Apache-2.0
#include "client/command/clip_shape.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/server/worker/media/ffmpeg.h"

namespace reel::client {
namespace {

std::string ClipOf(const std::string& size, const std::string& rate, int frames,
                   const std::string& options = "") {
  return worker::MakeWithFfmpeg("-f lavfi -i testsrc2=size=" + size + ":rate=" + rate +
                                    " -f lavfi -i anullsrc -shortest -frames:v " +
                                    std::to_string(frames) + " -pix_fmt yuv420p " + options,
                                ".mp4");
}

TEST(ClipShape, ReadsSizeRateAndLengthOfWholeFilesAndFragments) {
  if (!worker::HaveFfmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  for (const std::string options : {"", "-movflags +faststart", "-video_track_timescale 600",
                                    "-movflags frag_keyframe+empty_moov -g 8",
                                    "-movflags frag_keyframe+empty_moov+default_base_moof -g 8"}) {
    const ClipShape shape = ShapeOfClip(ClipOf("160x90", "24", 33, options));
    EXPECT_EQ(shape.width, 160) << options;
    EXPECT_EQ(shape.height, 90) << options;
    EXPECT_DOUBLE_EQ(shape.frame_rate, 24) << options;
    EXPECT_EQ(shape.frames, 33) << options;
  }
  EXPECT_NEAR(ShapeOfClip(ClipOf("64x64", "24000/1001", 9)).frame_rate, 23.976, 1e-3);
}

TEST(ClipShape, SurvivesEveryPrefixAndEveryByteOfItsHead) {
  if (!worker::HaveFfmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  const std::string clip = ClipOf("64x64", "24", 17, "-movflags frag_keyframe+empty_moov -g 8 -an");
  for (size_t size = 0; size < clip.size(); size += 7) ShapeOfClip(clip.substr(0, size));
  for (size_t i = 0; i < std::min<size_t>(clip.size(), 4000); ++i) {
    std::string broken = clip;
    broken[i] = static_cast<char>(0xFF);
    const ClipShape shape = ShapeOfClip(broken);
    EXPECT_GE(shape.frames, 0);
    v1::VideoSpec spec;
    FillFromClip(shape, spec);
    EXPECT_GE(spec.num_frames(), 0);
  }
  EXPECT_EQ(ShapeOfClip("no clip").frames, 0);
}

v1::VideoSpec Filled(const ClipShape& clip, v1::VideoSpec spec = {}) {
  FillFromClip(clip, spec);
  return spec;
}

TEST(ClipShape, MakesAClipTwiceAsLargeAsFarAsThatIsCommon) {
  const v1::VideoSpec small = Filled({640, 360, 30, 100});
  EXPECT_EQ(small.width(), 1280);
  EXPECT_EQ(small.height(), 704);
  EXPECT_EQ(small.frame_rate(), 30);
  EXPECT_EQ(small.num_frames(), 97);
  const v1::VideoSpec upright = Filled({1080, 1920, 25, 2000});
  EXPECT_EQ(upright.width(), 1088);
  EXPECT_EQ(upright.height(), 1920);
  EXPECT_EQ(upright.num_frames(), 745) << "30 s";
}

TEST(ClipShape, LeavesWhatTheCallerSaysAndWhatTheFileDoesNot) {
  v1::VideoSpec spec;
  spec.set_width(768);
  spec.set_frame_rate(24);
  const v1::VideoSpec filled = Filled({640, 360, 48, 96}, spec);
  EXPECT_EQ(filled.width(), 768);
  EXPECT_EQ(filled.height(), 0);
  EXPECT_EQ(filled.frame_rate(), 24);
  EXPECT_EQ(filled.num_frames(), 41) << "48 frames of 24 a second";
  EXPECT_EQ(Filled({}).ByteSizeLong(), 0U);
  EXPECT_EQ(Filled({64, 64, 1000, 9}).frame_rate(), 0);
}

}  // namespace
}  // namespace reel::client
