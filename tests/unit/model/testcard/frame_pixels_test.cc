// SPDX-License-Identifier: Apache-2.0
#include "model/testcard/frame_pixels.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace reel::model {
namespace {

// Y, U, V of a 2x2 picture of one colour.
std::vector<int> Converted(uint8_t r, uint8_t g, uint8_t b) {
  std::vector<uint8_t> rgb;
  for (int i = 0; i < 4; ++i) rgb.insert(rgb.end(), {r, g, b});
  std::vector<std::byte> out;
  AppendFrame(rgb, 2, FrameFormat::kI420, out);
  EXPECT_EQ(out.size(), 6u);
  return {std::to_integer<int>(out[0]), std::to_integer<int>(out[4]), std::to_integer<int>(out[5])};
}

TEST(AppendFrame, ConvertsToBt709LimitedRange) {
  EXPECT_EQ(Converted(0, 0, 0), (std::vector<int>{16, 128, 128}));
  EXPECT_EQ(Converted(255, 255, 255), (std::vector<int>{235, 128, 128}));
  EXPECT_EQ(Converted(255, 0, 0), (std::vector<int>{63, 102, 240}));
  EXPECT_EQ(Converted(0, 255, 0), (std::vector<int>{173, 42, 26}));
  EXPECT_EQ(Converted(0, 0, 255), (std::vector<int>{32, 240, 118}));
}

TEST(AppendFrame, KeepsExactFormatsExact) {
  const std::vector<uint8_t> rgb = {0, 51, 255, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<std::byte> bytes;
  AppendFrame(rgb, 2, FrameFormat::kRgb8, bytes);
  ASSERT_EQ(bytes.size(), 12u);
  EXPECT_EQ(std::memcmp(bytes.data(), rgb.data(), 12), 0);
  std::vector<std::byte> floats;
  AppendFrame(rgb, 2, FrameFormat::kRgbF32, floats);
  ASSERT_EQ(floats.size(), 48u);
  float first[3];
  std::memcpy(first, floats.data(), sizeof(first));
  EXPECT_FLOAT_EQ(first[1], 0.2f);
  EXPECT_FLOAT_EQ(first[2], 1.0f);
}

TEST(AppendFrame, AppendsFrameAfterFrame) {
  const std::vector<uint8_t> rgb(32 * 32 * 3, 200);
  std::vector<std::byte> out;
  AppendFrame(rgb, 32, FrameFormat::kI420, out);
  AppendFrame(rgb, 32, FrameFormat::kI420, out);
  EXPECT_EQ(out.size(), 2u * 32 * 32 * 3 / 2);
}

}  // namespace
}  // namespace reel::model
