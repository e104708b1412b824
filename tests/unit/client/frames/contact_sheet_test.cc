// SPDX-License-Identifier: Apache-2.0
#include "client/frames/contact_sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace reel::client {
namespace {

using ::testing::ElementsAre;

model::RgbImage PlainTile(int width, int height, uint8_t value) {
  return {
      width, height,
      std::vector<uint8_t>(3 * static_cast<size_t>(width) * static_cast<size_t>(height), value)};
}

TEST(ContactSheet, ShowsTheFirstAndTheLastFrame) {
  EXPECT_THAT(ContactSheet::FramesFor(1), ElementsAre(0));
  EXPECT_THAT(ContactSheet::FramesFor(2), ElementsAre(0, 1));
  EXPECT_THAT(ContactSheet::FramesFor(121), ElementsAre(0, 24, 48, 72, 96, 120));
}

TEST(ContactSheet, HasBothVideosAndTheirDifferenceBelowEachOther) {
  ContactSheet sheet;
  sheet.Add(PlainTile(8, 6, 100), PlainTile(8, 6, 103));
  sheet.Add(PlainTile(8, 6, 10), PlainTile(8, 6, 250));
  const model::RgbImage picture = sheet.Picture();
  ASSERT_EQ(picture.width, 8 + 4 + 8);
  ASSERT_EQ(picture.height, 6 + 4 + 6 + 4 + 6);
  const auto at = [&](int x, int y) {
    return picture.pixels[3 * static_cast<size_t>(y * picture.width + x)];
  };
  EXPECT_EQ(at(0, 0), 100);
  EXPECT_EQ(at(0, 10), 103);
  EXPECT_EQ(at(0, 20), 24);
  EXPECT_EQ(at(19, 25), 255);  // no wrapping around
  EXPECT_EQ(at(8, 0), 255);    // the gap
}

TEST(ContactSheet, ShrinksWideFramesAndKeepsTheirAspect) {
  ContactSheet sheet;
  sheet.Add(PlainTile(1024, 512, 7), PlainTile(1024, 512, 7));
  EXPECT_EQ(sheet.Picture().width, 256);
  EXPECT_EQ(sheet.Picture().height, 3 * 128 + 2 * 4);
}

}  // namespace
}  // namespace reel::client
