// SPDX-License-Identifier: Apache-2.0
// Pictures against what the reference makes of the same files (tests/golden/pictures).
#include "server/worker/media/picture_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "server/worker/media/picture_scaler.h"

namespace reel::worker {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kPixels = 1 << 20;
constexpr int kWidth = 64, kHeight = 32;  // of the goldens, scaled

std::string Golden(const std::string& name) {
  std::ifstream in(std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/pictures/" + name,
                   std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The largest difference of any byte; 256 where sizes differ.
int WorstDifference(const model::RgbImage& image, int width, int height,
                    const std::string& expected) {
  if (image.width != width || image.height != height || image.pixels.size() != expected.size()) {
    return 256;
  }
  int worst = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    worst = std::max(worst, std::abs(image.pixels[i] - static_cast<uint8_t>(expected[i])));
  }
  return worst;
}

struct PictureCase {
  std::string name;
  int bound = 0;  // of the worst byte
};

class GoldenPicture : public ::testing::TestWithParam<PictureCase> {};

TEST_P(GoldenPicture, IsThatOfTheReference) {
  const auto& [name, bound] = GetParam();
  const auto image = DecodePicture(Golden(name), kPixels);
  ASSERT_TRUE(image.ok()) << image.status();
  const std::string upright = Golden(name + ".upright.rgb");
  if (!upright.empty()) {
    uint32_t sides[2];
    std::memcpy(sides, upright.data(), sizeof(sides));
    const int worst = WorstDifference(*image, static_cast<int>(sides[0]),
                                      static_cast<int>(sides[1]), upright.substr(sizeof(sides)));
    std::printf("%-20s worst byte %d\n", name.c_str(), worst);
    EXPECT_LE(worst, bound);
  }
  const model::RgbImage scaled = ScaleLanczos(*image, kWidth, kHeight);
  const int worst = WorstDifference(scaled, kWidth, kHeight, Golden(name + ".rgb"));
  std::printf("%-20s worst byte %d, scaled\n", name.c_str(), worst);
  EXPECT_LE(worst, bound);
}

// Exact, but for the rounding of JPEG's inverse transform.
INSTANTIATE_TEST_SUITE_P(
    All, GoldenPicture,
    ::testing::Values(PictureCase{"rgb.png"}, PictureCase{"rgba.png"}, PictureCase{"grey.png"},
                      PictureCase{"grey_alpha.png"}, PictureCase{"palette.png"},
                      PictureCase{"bits.png"}, PictureCase{"deep.png"}, PictureCase{"turned.png"},
                      PictureCase{"large.png"}, PictureCase{"444.jpg", 3},
                      PictureCase{"422.jpg", 3}, PictureCase{"420.jpg", 3},
                      PictureCase{"grey.jpg", 3}, PictureCase{"progressive.jpg", 3},
                      PictureCase{"turned_2.jpg", 3}, PictureCase{"turned_3.jpg", 3},
                      PictureCase{"turned_4.jpg", 3}, PictureCase{"turned_5.jpg", 3},
                      PictureCase{"turned_6.jpg", 3}, PictureCase{"turned_7.jpg", 3},
                      PictureCase{"turned_8.jpg", 3}, PictureCase{"lossless.webp"},
                      PictureCase{"lossy.webp"}),
    [](const auto& param) {
      std::string name = param.param.name;
      for (char& c : name) c = c == '.' ? '_' : c;
      return name;
    });

std::string ErrorOf(const std::string& bytes, int64_t max_pixels = kPixels) {
  const auto image = DecodePicture(bytes, max_pixels);
  EXPECT_EQ(image.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(image.status().message());
}

TEST(DecodePicture, RefusesWhatIsNoPicture) {
  for (const char* bytes : {"", "x", "GIF89a..........", "<svg>", "RIFF....WAVE......"}) {
    EXPECT_THAT(ErrorOf(bytes), HasSubstr("not a PNG, JPEG or WebP")) << bytes;
  }
}

TEST(DecodePicture, RefusesFourInks) {
  EXPECT_THAT(ErrorOf(Golden("inks.jpg")), HasSubstr("save it as RGB"));
}

TEST(DecodePicture, RefusesTooManyPixelsBeforeItTakesMemory) {
  EXPECT_THAT(ErrorOf(Golden("rgb.png"), 41 * 27 - 1), HasSubstr("41x27"));
  EXPECT_TRUE(DecodePicture(Golden("rgb.png"), 41 * 27).ok());
  std::string bomb = Golden("rgb.png");
  for (const size_t at : {16, 20})
    bomb.replace(at, 4, std::string("\0\x01\0\0", 4));  // 65536 a side
  ErrorOf(bomb);
}

TEST(DecodePicture, RefusesEveryCutOffPicture) {
  for (const char* name :
       {"rgb.png", "420.jpg", "progressive.jpg", "turned_6.jpg", "lossless.webp"}) {
    const std::string whole = Golden(name);
    for (size_t size = 0; size + 4 < whole.size(); size += 1 + whole.size() / 97) {
      EXPECT_FALSE(DecodePicture(whole.substr(0, size), kPixels).ok()) << name << " " << size;
    }
  }
}

TEST(DecodePicture, SurvivesBrokenBytes) {
  for (const char* name : {"rgb.png", "palette.png", "turned.png", "420.jpg", "progressive.jpg",
                           "turned_6.jpg", "lossless.webp", "lossy.webp"}) {
    const std::string whole = Golden(name);
    for (size_t at = 0; at < whole.size(); ++at) {
      std::string broken = whole;
      broken[at] = static_cast<char>(~broken[at]);
      const auto image = DecodePicture(broken, kPixels);
      if (!image.ok()) continue;  // what can still be read is a picture
      EXPECT_EQ(image->pixels.size(),
                size_t{3} * static_cast<size_t>(image->width) * static_cast<size_t>(image->height));
    }
  }
}

}  // namespace
}  // namespace reel::worker
