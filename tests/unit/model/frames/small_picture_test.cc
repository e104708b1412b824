// SPDX-License-Identifier: Apache-2.0
#include "model/frames/small_picture.h"

#include "gtest/gtest.h"
#include "tests/unit/model/bridge/test_run.h"

namespace reel::model {
namespace {

// A column of the picture is as bright as it is far right; the second frame is black.
at::Tensor Ramp(int64_t height, int64_t width) {
  at::Tensor pictures = at::full({1, 3, 2, height, width}, -1.0);
  pictures.select(2, 0).copy_(at::arange(width, at::kFloat) * 2 / 255 - 1);
  return pictures;
}

TEST(SmallPicture, OfAPictureThatFitsIsItsFirstFrame) {
  const TestRun test;
  const RgbImage image = SmallPicture(Ops(test.run), Ramp(4, 6), 6);
  EXPECT_EQ(image.width, 6);
  EXPECT_EQ(image.height, 4);
  ASSERT_EQ(image.pixels.size(), 4u * 6 * 3);
  EXPECT_EQ(image.pixels[5 * 3], 5);
}

TEST(SmallPicture, HasNoSideLongerThanAsked) {
  const TestRun test;
  const RgbImage image = SmallPicture(Ops(test.run), Ramp(4, 10), 4);
  EXPECT_EQ(image.width, 4);  // every third of ten
  EXPECT_EQ(image.height, 2);
  EXPECT_EQ(image.pixels[3], 3);
}

}  // namespace
}  // namespace reel::model
