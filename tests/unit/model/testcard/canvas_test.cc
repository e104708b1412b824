// SPDX-License-Identifier: Apache-2.0
#include "model/testcard/canvas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace reel::model {
namespace {

constexpr Rgb kInk{255, 128, 1};

TEST(FromHsv, MakesThePrimaries) {
  EXPECT_EQ(FromHsv(0, 1, 1), (Rgb{255, 0, 0}));
  EXPECT_EQ(FromHsv(1.0 / 3, 1, 1), (Rgb{0, 255, 0}));
  EXPECT_EQ(FromHsv(2.0 / 3, 1, 1), (Rgb{0, 0, 255}));
  EXPECT_EQ(FromHsv(0.7, 0, 0.5), (Rgb{128, 128, 128}));
}

TEST(Canvas, ClipsWhatLiesOutside) {
  std::vector<uint8_t> pixels(8 * 4 * 3);
  Canvas canvas(pixels, 8, 4);
  canvas.Set(-1, 0, kInk);
  canvas.Set(8, 3, kInk);
  canvas.Set(0, 4, kInk);
  EXPECT_EQ(std::count(pixels.begin(), pixels.end(), 0), 96);
  canvas.Fill({-5, -5, 100, 100}, kInk);
  EXPECT_EQ(std::count(pixels.begin(), pixels.end(), 128), 32);
  canvas.Disc({-2, 90}, 500, kInk);
  canvas.Line({-10, -10}, {50, 50}, 3, kInk);
  canvas.Number(1234567890, {-4, -2}, 3, kInk);
}

TEST(Canvas, DrawsARoundDisc) {
  std::vector<uint8_t> pixels(100 * 100 * 3);
  Canvas canvas(pixels, 100, 100);
  canvas.Disc({50, 50}, 30, kInk);
  const auto area = std::count(pixels.begin(), pixels.end(), 255);
  EXPECT_NEAR(static_cast<double>(area), 3.14159 * 30 * 30, 40);
}

}  // namespace
}  // namespace reel::model
