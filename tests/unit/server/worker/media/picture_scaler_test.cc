// SPDX-License-Identifier: Apache-2.0
// Scaling against Pillow is tested with the goldens of picture_decoder_test.cc.
#include "server/worker/media/picture_scaler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reel::worker {
namespace {

using ::testing::Each;

TEST(ScaleLanczos, LeavesAPictureOfTheRightSizeAlone) {
  const model::RgbImage image{2, 1, {1, 2, 3, 250, 251, 252}};
  EXPECT_EQ(ScaleLanczos(image, 2, 1).pixels, image.pixels);
}

TEST(ScaleLanczos, KeepsOneColour) {
  const model::RgbImage dot{1, 1, {77, 77, 77}};
  const model::RgbImage large = ScaleLanczos(dot, 64, 32);
  EXPECT_EQ(large.pixels.size(), 64u * 32 * 3);
  EXPECT_THAT(large.pixels, Each(77));
  EXPECT_THAT(ScaleLanczos(large, 3, 5).pixels, Each(77));
}

TEST(ScaleLanczos, ScalesOneSideAlone) {
  const model::RgbImage image{4, 2, std::vector<uint8_t>(24, 9)};
  EXPECT_EQ(ScaleLanczos(image, 4, 7).height, 7);
  EXPECT_EQ(ScaleLanczos(image, 9, 2).width, 9);
}

}  // namespace
}  // namespace reel::worker
