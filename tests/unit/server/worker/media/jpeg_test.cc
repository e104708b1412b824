// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/jpeg.h"

#include <gtest/gtest.h>

#include "model/testcard/picture.h"
#include "tests/fakes/decoded_video.h"

namespace reel::worker {
namespace {

model::RgbImage Picture(int width, int height) {
  return {width, height, model::TestPicture("a fox", 7, width, height).Draw(3)};
}

TEST(EncodeJpeg, ShrinksToTheLongestSideAndKeepsTheAspect) {
  const auto jpeg = EncodeJpeg(Picture(384, 256), 192);
  ASSERT_TRUE(jpeg.ok()) << jpeg.status();
  EXPECT_EQ(jpeg->width, 192);
  EXPECT_EQ(jpeg->height, 128);
}

TEST(EncodeJpeg, NeverEnlarges) {
  const auto jpeg = EncodeJpeg(Picture(64, 32), 512);
  ASSERT_TRUE(jpeg.ok()) << jpeg.status();
  EXPECT_EQ(jpeg->width, 64);
  EXPECT_EQ(jpeg->height, 32);
}

TEST(EncodeJpeg, MakesAPictureThatOthersRead) {
  const auto jpeg = EncodeJpeg(Picture(384, 256), 384);
  ASSERT_TRUE(jpeg.ok());
  const auto picture = reel::testing::Decode(jpeg->bytes);
  ASSERT_TRUE(picture.ok()) << picture.status();
  ASSERT_EQ(picture->luma.size(), 1u);
  EXPECT_EQ(model::DecodeCode(picture->luma[0], 384, 384, 256),
            (model::PictureCode{model::PictureHash("a fox", 7, 384, 256), 3}));
}

TEST(EncodeJpeg, GivesTheSameBytesForTheSamePicture) {
  EXPECT_EQ(EncodeJpeg(Picture(384, 256), 256)->bytes, EncodeJpeg(Picture(384, 256), 256)->bytes);
}

TEST(EncodeJpeg, KeepsExtremeShapesLegal) {
  const auto jpeg = EncodeJpeg(Picture(1536, 32), 32);
  ASSERT_TRUE(jpeg.ok()) << jpeg.status();
  EXPECT_EQ(jpeg->width, 32);
  EXPECT_EQ(jpeg->height, 2);
}

TEST(EncodeJpeg, RefusesWhatIsNoPicture) {
  EXPECT_FALSE(EncodeJpeg({}, 256).ok());
  EXPECT_FALSE(EncodeJpeg({4, 4, {1, 2, 3}}, 256).ok());
}

}  // namespace
}  // namespace reel::worker
