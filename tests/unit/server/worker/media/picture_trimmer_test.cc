// SPDX-License-Identifier: Apache-2.0
// Small files that would cost a decoder seconds: refused, or decoded without what is not needed.
#include "server/worker/media/picture_trimmer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <time.h>
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "server/worker/media/picture_decoder.h"

namespace reel::worker {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMaxPixels = 16'000'000;
// Each bomb took the decoder 3 s and more; a busy machine adds nothing to CPU time.
constexpr double kMostSeconds = 1.5;

std::string Stored(const std::string& name) {
  std::ifstream in(std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/pictures/" + name,
                   std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string BigEndian(uint32_t value, int bytes = 4) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text.push_back(static_cast<char>(value >> (8 * i)));
  return text;
}

std::string PngChunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const auto crc =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return BigEndian(static_cast<uint32_t>(data.size())) + body +
         BigEndian(static_cast<uint32_t>(crc));
}

std::string PngHead(uint32_t width, uint32_t height, char interlaced = 0) {
  return "\x89PNG\r\n\x1A\n" + PngChunk("IHDR", BigEndian(width) + BigEndian(height) +
                                                    std::string("\x08\x02\0\0", 4) + interlaced);
}

// A zlib stream of so many zeros, made of one block again and again.
std::string Zeros(int64_t mebibytes) {
  const std::string block(1 << 20, '\0');
  std::string packed(1 << 16, '\0');
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(block.data()));
  stream.avail_in = static_cast<uInt>(block.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FULL_FLUSH), Z_OK);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  std::string whole = "\x78\xDA";
  for (int64_t i = 0; i < mebibytes; ++i) whole += packed;
  whole += std::string("\x03\0", 2);  // an empty last block
  const auto sum = static_cast<uint32_t>((mebibytes << 20) % 65521);
  return whole + BigEndian(sum << 16 | 1);
}

double CpuSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// What comes of it, within the time.
absl::Status DecodeInTime(const std::string& bytes, int64_t max_pixels = kMaxPixels) {
  const double begin = CpuSeconds();
  absl::Status status = DecodePicture(bytes, max_pixels).status();
  const double took = CpuSeconds() - begin;
  std::printf("%zu bytes: %.3f s, %s\n", bytes.size(), took, status.ToString().c_str());
  EXPECT_LT(took, kMostSeconds) << status;
  return status;
}

TEST(PictureTrimmer, RefusesAPngThatHoldsMorePixelsThanItSays) {
  for (const uint32_t side : {1u, 64u, 3000u}) {
    const std::string bomb =
        PngHead(side, side) + PngChunk("IDAT", Zeros(3000)) + PngChunk("IEND", "");
    EXPECT_LT(bomb.size(), 3'500'000u);
    EXPECT_THAT(std::string(DecodeInTime(bomb).message()), HasSubstr("more pixel data"));
  }
}

TEST(PictureTrimmer, FindsTheSurplusInAnyChunk) {
  const std::string zeros = Zeros(1000);
  std::string bomb = PngHead(64, 64, 1);
  for (size_t at = 0; at < zeros.size(); at += 100) {
    bomb += PngChunk("IDAT", zeros.substr(at, 100));
  }
  EXPECT_THAT(std::string(DecodeInTime(bomb + PngChunk("IEND", "")).message()),
              HasSubstr("more pixel data"));
}

TEST(PictureTrimmer, RefusesTooManyPixelsByTheHeadAlone) {
  const std::string png =
      PngHead(60'000, 50'000) + PngChunk("IDAT", Zeros(3000)) + PngChunk("IEND", "");
  EXPECT_THAT(std::string(DecodeInTime(png).message()), HasSubstr("has 60000x50000 pixels"));
  std::string jpeg = Stored("420.jpg");
  const size_t frame = jpeg.find("\xFF\xC0");
  jpeg.replace(frame + 5, 4, BigEndian(50'000, 2) + BigEndian(60'000, 2));
  EXPECT_THAT(std::string(DecodeInTime(jpeg).message()), HasSubstr("has 60000x50000 pixels"));
  EXPECT_THAT(std::string(DecodePicture(Stored("lossy.webp"), 41 * 27 - 1).status().message()),
              HasSubstr("has 41x27 pixels"));
  EXPECT_THAT(std::string(DecodePicture(Stored("lossless.webp"), 41 * 27 - 1).status().message()),
              HasSubstr("has 41x27 pixels"));
}

TEST(PictureTrimmer, LeavesOutWhatInflatesBesideThePixels) {
  const std::string small = PngChunk("IDAT", [] {
    std::string raw(4, '\0'), packed(64, '\0');
    uLongf size = packed.size();
    EXPECT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                       reinterpret_cast<const Bytef*>(raw.data()), raw.size()),
              Z_OK);
    packed.resize(size);
    return packed;
  }());
  const std::string zeros = Zeros(150);
  std::string bomb = PngHead(1, 1);
  for (int i = 0; i < 20; ++i) bomb += PngChunk("zTXt", std::string("a\0\0", 3) + zeros);
  bomb += PngChunk("iCCP", std::string("a\0\0", 3) + zeros) + small + PngChunk("IEND", "");
  EXPECT_LT(bomb.size(), 3'500'000u);
  EXPECT_TRUE(DecodeInTime(bomb).ok());
}

// Of 16 megapixels, in so many scans that say nothing.
std::string ScannedJpeg(int scans) {
  std::string jpeg = "\xFF\xD8";
  jpeg += std::string("\xFF\xDB\0\x43\0", 5) + std::string(64, '\x01');
  jpeg += std::string("\xFF\xC2\0\x0B\x08", 5) + BigEndian(4000, 2) + BigEndian(4000, 2) +
          std::string("\x01\x01\x11\0", 4);
  // One code, "end of the band for 16,384 blocks and more": 14 further bits.
  jpeg += std::string("\xFF\xC4\0\x14\x10", 5) + std::string("\x01", 1) + std::string(15, '\0') +
          "\xE0";
  // Another for the first scan: no difference.
  jpeg += std::string("\xFF\xC4\0\x14\0", 5) + std::string("\x01", 1) + std::string(15, '\0') +
          std::string(1, '\0');
  jpeg += std::string("\xFF\xDA\0\x08\x01\x01\0\0\0\0", 10) + std::string(31'250, '\0');
  for (int i = 0; i < scans; ++i) {
    const char band = static_cast<char>(1 + i % 63);
    jpeg += std::string("\xFF\xDA\0\x08\x01\x01\0", 7) + band + band + std::string(1, '\0');
    jpeg += std::string(40, '\0');
  }
  return jpeg + "\xFF\xD9";
}

TEST(PictureTrimmer, RefusesAJpegOfVeryManyScans) {
  EXPECT_THAT(std::string(DecodeInTime(ScannedJpeg(60'000)).message()), HasSubstr("scans"));
}

TEST(PictureTrimmer, RefusesAJpegOfManyFramesOrTables) {
  const std::string whole = Stored("420.jpg");
  const size_t frame = whole.find("\xFF\xC0"), tables = whole.find("\xFF\xC4");
  const auto segment = [&](size_t at) {
    const auto size = static_cast<size_t>(static_cast<uint8_t>(whole[at + 2]) << 8 |
                                          static_cast<uint8_t>(whole[at + 3]));
    return whole.substr(at, size + 2);
  };
  std::string frames = whole, many_tables = whole;
  frames.insert(frame, segment(frame));
  EXPECT_THAT(std::string(DecodeInTime(frames).message()), HasSubstr("more than one frame"));
  std::string repeated;
  while (repeated.size() < 3'000'000) repeated += segment(tables);
  many_tables.insert(tables, repeated);
  EXPECT_THAT(std::string(DecodeInTime(many_tables).message()), HasSubstr("tables"));
}

TEST(PictureTrimmer, HidesNoScanInASegmentThatTheDecoderTripsOver) {
  // libav goes on inside a segment of metadata that it cannot read.
  const std::string whole = ScannedJpeg(2), bomb = ScannedJpeg(1000);
  const std::string hidden = bomb.substr(whole.size() - 2, 60'000);
  std::string jpeg = whole;
  jpeg.insert(jpeg.size() - 2, "\xFF\xE1" +
                                   BigEndian(static_cast<uint32_t>(hidden.size() + 10), 2) +
                                   std::string("Exif\0\0xx", 8) + hidden);
  const auto trimmed = TrimPicture(jpeg, kMaxPixels);
  ASSERT_TRUE(trimmed.ok()) << trimmed.status();
  EXPECT_EQ(*trimmed, whole);
}

TEST(PictureTrimmer, KeepsWhatPixelsNeed) {
  for (const char* name :
       {"rgb.png", "rgba.png", "palette.png", "bits.png", "deep.png", "large.png", "444.jpg",
        "progressive.jpg", "turned_6.jpg", "grey.jpg", "inks.jpg", "lossy.webp", "lossless.webp"}) {
    const std::string whole = Stored(name);
    const auto trimmed = TrimPicture(whole, kMaxPixels);
    ASSERT_TRUE(trimmed.ok()) << name << trimmed.status();
    EXPECT_LE(trimmed->size(), whole.size()) << name;
    const auto again = TrimPicture(*trimmed, kMaxPixels);
    ASSERT_TRUE(again.ok()) << name << again.status();
    EXPECT_EQ(*again, *trimmed) << name;
  }
}

}  // namespace
}  // namespace reel::worker
