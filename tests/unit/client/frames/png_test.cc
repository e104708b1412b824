// SPDX-License-Identifier: Apache-2.0
#include "client/frames/png.h"

#include <gtest/gtest.h>

#include "server/worker/media/picture_decoder.h"

namespace reel::client {
namespace {

TEST(EncodePng, KeepsEverySample) {
  model::RgbImage image{5, 3, {}};
  for (int i = 0; i < 5 * 3 * 3; ++i) image.pixels.push_back(static_cast<uint8_t>(i * 37));
  const auto png = EncodePng(image);
  ASSERT_TRUE(png.ok()) << png.status();
  const auto read = worker::DecodePicture(*png, 1000);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->width, 5);
  EXPECT_EQ(read->pixels, image.pixels);
}

}  // namespace
}  // namespace reel::client
