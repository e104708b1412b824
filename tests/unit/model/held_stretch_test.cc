// SPDX-License-Identifier: Apache-2.0
#include "model/held_stretch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reel::model {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Of a video of 97 frames at 25 a second: 13 latents.
GenerationSpec Stretched(double begin, double end) {
  GenerationSpec spec;
  spec.num_frames = 97;
  spec.frame_rate = 25;
  spec.source = Source{.begin = Source::Begin::kRetake};
  spec.source->retake = {.begin = begin, .end = end};
  return spec;
}

Stretch LatentsOf(double begin, double end) { return RetakenLatents(Stretched(begin, end), 8); }

TEST(RetakenLatents, AreTheLeastWholeOnesAroundTheSeconds) {
  EXPECT_EQ(LatentsOf(0, 3.88), (Stretch{0, 13}));
  EXPECT_EQ(LatentsOf(0, 0.04), (Stretch{0, 1})) << "the first frame is a latent of its own";
  EXPECT_EQ(LatentsOf(0.04, 0.36), (Stretch{1, 2})) << "frames 1 to 8";
  EXPECT_EQ(LatentsOf(0.04, 0.37), (Stretch{1, 3})) << "and a bit of frame 9";
  EXPECT_EQ(LatentsOf(0.03, 0.36), (Stretch{0, 2}));
  EXPECT_EQ(LatentsOf(3.87, 3.88), (Stretch{12, 13}));
}

TEST(RetakenLatents, AreOneAtLeastAndWithinTheVideoWhateverItsSecondsRoundTo) {
  EXPECT_EQ(LatentsOf(1, 1 + 1e-12), (Stretch{4, 5}));
  EXPECT_EQ(LatentsOf(3.88, 3.9), (Stretch{12, 13}));
  EXPECT_EQ(LatentsOf(0, 1e300), (Stretch{0, 13}));
}

TEST(RetakenLatents, StandForTheFramesThatAreMadeAnew) {
  EXPECT_EQ(FramesOf({0, 1}, 8), (Stretch{0, 1}));
  EXPECT_EQ(FramesOf({1, 2}, 8), (Stretch{1, 9}));
  EXPECT_EQ(FramesOf({0, 13}, 8), (Stretch{0, 97}));
}

TEST(RetakenSound, IsThatOfTheFramesAndOfWhatFollowsTheLast) {
  const auto sound = [](double begin, double end) {
    return RetakenSound(Stretched(begin, end), 8, 25, 98);
  };
  EXPECT_EQ(sound(0, 3.88), (Stretch{0, 98}));
  EXPECT_EQ(sound(0.04, 0.36), (Stretch{1, 9}));
  EXPECT_EQ(sound(3.87, 3.88), (Stretch{89, 98}));
}

TEST(RetakeNotice, TellsWhichFramesAreMadeAnewWhereTheyAreOthersThanAsked) {
  EXPECT_THAT(RetakeNotice(Stretched(0.04, 0.36), 8), IsEmpty());
  EXPECT_THAT(RetakeNotice(Stretched(0, 3.88), 8), IsEmpty());
  EXPECT_THAT(RetakeNotice(Stretched(0.1, 0.3), 8),
              HasSubstr("seconds 0.1 to 0.3; made anew are seconds 0.04 to 0.36, frames 1 to 8."));
  EXPECT_THAT(RetakeNotice(GenerationSpec(), 8), IsEmpty());
}

TEST(DecodedFrames, OfAnExtensionAreThoseInFrontOfItToo) {
  GenerationSpec spec = Stretched(0, 1);
  EXPECT_EQ(DecodedFrames(spec, 8), 97);
  spec.source->begin = Source::Begin::kExtend;
  EXPECT_EQ(DecodedFrames(spec, 8), 97 + 32);
}

}  // namespace
}  // namespace reel::model
