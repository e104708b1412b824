// SPDX-License-Identifier: Apache-2.0
#include "model/testcard/picture_code.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace reel::model {
namespace {

const std::vector<std::pair<int, int>> kSizes = {{32, 32},   {64, 32},    {32, 64},
                                                 {64, 64},   {384, 256},  {1536, 32},
                                                 {32, 1536}, {1216, 704}, {1536, 1536}};

std::vector<uint8_t> DrawnCode(const PictureCode& code, int width, int height) {
  std::vector<uint8_t> luma(static_cast<size_t>(width * height), 90);
  const CodeLayout layout = CodeLayoutOf(width, height);
  const auto bits = EncodeCode(code, layout);
  for (int y = layout.top; y < height; ++y) {
    for (int x = 0; x < layout.columns * layout.block; ++x) {
      const size_t bit =
          static_cast<size_t>((y - layout.top) / layout.block * layout.columns + x / layout.block);
      luma[static_cast<size_t>(y * width + x)] = bit < bits.size() && bits[bit] ? 235 : 16;
    }
  }
  return luma;
}

TEST(PictureCode, ReadsBackAtEverySize) {
  for (const auto& [width, height] : kSizes) {
    for (const int frame : {0, 1, 47, 256, 1023}) {
      const PictureCode code{PictureHash("a fox", 7, width, height), frame};
      EXPECT_EQ(DecodeCode(DrawnCode(code, width, height), width, width, height), code)
          << width << "x" << height;
    }
  }
}

TEST(PictureCode, LeavesRoomForAPicture) {
  for (const auto& [width, height] : kSizes) {
    const CodeLayout layout = CodeLayoutOf(width, height);
    EXPECT_GE(layout.top, height / 2) << width << "x" << height;
    EXPECT_LE(layout.columns * layout.block, width);
  }
  EXPECT_EQ(CodeLayoutOf(384, 256).block, 16);
  EXPECT_EQ(CodeLayoutOf(384, 256).hash_bits, 32);
  EXPECT_EQ(CodeLayoutOf(32, 32).hash_bits, 16);
}

TEST(PictureCode, IsNotFoundInPicturesWithoutOne) {
  std::vector<uint8_t> luma(384 * 256, 16);
  luma[0] = 255;
  for (size_t i = 0; i < luma.size(); ++i) luma[i] = i % 3 == 0 ? 200 : 20;
  const auto found = DecodeCode(luma, 384, 384, 256);
  EXPECT_TRUE(!found || found->hash != PictureHash("a fox", 7, 384, 256));
}

TEST(PictureCode, ADamagedBlockIsNoticedOrChangesTheCode) {
  const PictureCode code{PictureHash("a fox", 7, 384, 256), 5};
  const CodeLayout layout = CodeLayoutOf(384, 256);
  for (int block = 0; block < 48; ++block) {
    auto luma = DrawnCode(code, 384, 256);
    const int left = block % layout.columns * 16, top = layout.top + block / layout.columns * 16;
    for (int y = top; y < top + 16; ++y) {
      for (int x = left; x < left + 16; ++x) {
        auto& pixel = luma[static_cast<size_t>(y * 384 + x)];
        pixel = static_cast<uint8_t>(251 - pixel);
      }
    }
    EXPECT_NE(DecodeCode(luma, 384, 384, 256), code) << block;
  }
}

TEST(PictureCode, RefusesPlanesThatAreTooSmall) {
  EXPECT_EQ(DecodeCode(std::vector<uint8_t>(100), 384, 384, 256), std::nullopt);
  EXPECT_EQ(DecodeCode(std::vector<uint8_t>(100), 4, 4, 4), std::nullopt);
}

TEST(PictureHash, DependsOnPromptSeedAndSize) {
  const uint32_t hash = PictureHash("a fox", 7, 384, 256);
  EXPECT_NE(hash, PictureHash("a fix", 7, 384, 256));
  EXPECT_NE(hash, PictureHash("a fox", 8, 384, 256));
  EXPECT_NE(hash, PictureHash("a fox", 7, 256, 384));
  EXPECT_EQ(hash, PictureHash("a fox", 7 + (uint64_t{1} << 32), 384, 256));
}

TEST(PictureHash, RarelyCollides) {
  std::set<uint32_t> seen;
  for (uint64_t seed = 0; seed < 10'000; ++seed) seen.insert(PictureHash("p", seed, 384, 256));
  EXPECT_GE(seen.size(), 9'999u);
}

}  // namespace
}  // namespace reel::model
