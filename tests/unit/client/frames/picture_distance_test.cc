// SPDX-License-Identifier: Apache-2.0
#include "client/frames/picture_distance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace reel::client {
namespace {

model::RgbImage GreyOf(int width, int height, int (*value)(int x, int y)) {
  model::RgbImage image{width, height, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      image.pixels.insert(image.pixels.end(), 3,
                          static_cast<uint8_t>(std::clamp(value(x, y), 0, 255)));
    }
  }
  return image;
}

int Pattern(int x, int y) { return (x * 7 + y * 13) % 256; }
int Disturbed(int x, int y) { return Pattern(x, y) + (x * 31 + y * 17) % 23 - 11; }

TEST(PictureDistance, OfEqualPicturesIsNone) {
  PictureDistance distance;
  const auto image = GreyOf(24, 16, Pattern);
  distance.Add(image, image);
  EXPECT_TRUE(std::isinf(distance.psnr_db()));
  EXPECT_EQ(distance.ssim(), 1);
}

// Computed by a plain loop over windows of 11 x 11 in NumPy.
TEST(PictureDistance, IsThatOfThePaper) {
  PictureDistance distance;
  distance.Add(GreyOf(24, 16, Pattern), GreyOf(24, 16, Disturbed));
  EXPECT_NEAR(distance.psnr_db(), 31.855704889, 1e-6);
  EXPECT_NEAR(distance.ssim(), 0.968387959, 1e-6);
}

// Without variance the formula is that of the means alone.
TEST(PictureDistance, OfPlainPicturesIsThatOfTheirMeans) {
  PictureDistance distance;
  distance.Add(GreyOf(12, 40, [](int, int) { return 100; }),
               GreyOf(12, 40, [](int, int) { return 120; }));
  EXPECT_NEAR(distance.psnr_db(), 20 * std::log10(255.0 / 20), 1e-9);
  const double c1 = 2.55 * 2.55;
  EXPECT_NEAR(distance.ssim(), (2 * 100 * 120 + c1) / (100 * 100 + 120 * 120 + c1), 1e-9);
}

TEST(PictureDistance, IsTheMeanOverFrames) {
  PictureDistance one, two;
  const auto a = GreyOf(24, 16, Pattern), b = GreyOf(24, 16, Disturbed);
  one.Add(a, b);
  two.Add(a, b);
  two.Add(a, a);
  EXPECT_EQ(two.frames(), 2);
  EXPECT_NEAR(two.psnr_db(), one.psnr_db() + 10 * std::log10(2.0), 1e-9);
  EXPECT_NEAR(two.ssim(), (one.ssim() + 1) / 2, 1e-9);
}

TEST(PictureDistance, TakesPicturesSmallerThanItsWindow) {
  PictureDistance distance;
  distance.Add(GreyOf(1, 3, Pattern), GreyOf(1, 3, Disturbed));
  EXPECT_GT(distance.ssim(), -1);
  EXPECT_LT(distance.ssim(), 1);
}

}  // namespace
}  // namespace reel::client
