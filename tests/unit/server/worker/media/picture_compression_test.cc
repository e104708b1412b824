// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/picture_compression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>

#include "server/worker/media/picture_decoder.h"
#include "tests/unit/server/worker/media/ffmpeg.h"

namespace reel::worker {
namespace {

constexpr int kMostPixels = 1'000'000;
constexpr char kSource[] = "-f lavfi -i testsrc2=size=192x128:rate=1 -frames:v 1 ";

// A picture with edges and ramps.
model::RgbImage Drawn(int width, int height) {
  model::RgbImage image = {width, height, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const bool in_square = x / 16 % 2 == y / 16 % 2;
      image.pixels.push_back(static_cast<uint8_t>(x * 255 / width));
      image.pixels.push_back(static_cast<uint8_t>(y * 255 / height));
      image.pixels.push_back(in_square ? 200 : 40);
    }
  }
  return image;
}

double Psnr(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
  EXPECT_EQ(a.size(), b.size());
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) squares += std::pow(int{a[i]} - int{b[i]}, 2);
  return 10 * std::log10(255.0 * 255.0 * static_cast<double>(a.size()) / squares);
}

std::vector<uint8_t> CompressedPixels(const model::RgbImage& image, int crf) {
  const auto compressed = Compressed(image, crf);
  EXPECT_TRUE(compressed.ok()) << compressed.status();
  return compressed.ok() ? compressed->pixels : std::vector<uint8_t>();
}

TEST(PictureCompression, LosesMoreByAHigherCrf) {
  const model::RgbImage image = Drawn(192, 128);
  const double fine = Psnr(CompressedPixels(image, 5), image.pixels);
  const double usual = Psnr(CompressedPixels(image, 33), image.pixels);
  const double coarse = Psnr(CompressedPixels(image, 51), image.pixels);
  std::printf("crf 5, 33, 51: %.1f, %.1f, %.1f dB\n", fine, usual, coarse);
  EXPECT_GT(fine, usual);
  EXPECT_GT(usual, coarse);
  EXPECT_GT(coarse, 15);
}

TEST(PictureCompression, GivesTheSameTwice) {
  const model::RgbImage image = Drawn(192, 128);
  EXPECT_TRUE(CompressedPixels(image, 33) == CompressedPixels(image, 33));
}

TEST(PictureCompression, CutsOddSides) {
  const auto compressed = Compressed(Drawn(51, 33), 33);
  ASSERT_TRUE(compressed.ok()) << compressed.status();
  EXPECT_EQ(compressed->width, 50);
  EXPECT_EQ(compressed->height, 32);
  EXPECT_EQ(compressed->pixels.size(), size_t{50 * 32 * 3});
}

TEST(PictureCompression, TakesTheSmallestAndRefusesSidesThatH264CannotHave) {
  EXPECT_TRUE(Compressed(Drawn(2, 2), 33).ok());
  for (const auto& [width, height] : {std::pair(1, 64), std::pair(64, 1), std::pair(16386, 2)}) {
    const absl::Status status = Compressed(Drawn(width, height), 33).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), ::testing::HasSubstr("condition_crf 0"));
  }
}

TEST(PictureCompression, IsThatOfTheFfmpegCommand) {
  if (!HaveFfmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  const auto image =
      DecodePicture(MakeWithFfmpeg(std::string(kSource) + "-pix_fmt rgb24", ".png"), kMostPixels);
  ASSERT_TRUE(image.ok()) << image.status();
  const std::string file =
      MakeWithFfmpeg(std::string(kSource) +
                         "-vf format=rgb24,scale=flags=bilinear,format=yuv420p -c:v libx264 "
                         "-preset veryfast -crf 33 -threads 1",
                     ".mp4");
  ASSERT_FALSE(file.empty());
  const std::string decoded = DecodeRgb(file);
  const double apart = Psnr(CompressedPixels(*image, 33), {decoded.begin(), decoded.end()});
  std::printf("from the command's: %.1f dB\n", apart);
  EXPECT_GT(apart, 35);  // without end where command and library have one x264
  EXPECT_LT(Psnr(CompressedPixels(*image, 33), image->pixels), apart);
}

}  // namespace
}  // namespace reel::worker
