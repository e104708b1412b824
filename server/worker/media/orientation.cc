// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/orientation.h"

#include <array>
#include <cstddef>
#include <utility>

namespace reel::worker {
namespace {

constexpr int kTag = 0x0112;
constexpr int kShort = 3;
constexpr std::string_view kExifMark("Exif\0\0", 6);

// Reads numbers from bytes that may end anywhere: past the end everything is 0.
class Bytes {
 public:
  Bytes(std::string_view data, bool big_endian) : data_(data), big_endian_(big_endian) {}

  uint32_t At(size_t offset, size_t width) const {
    if (offset > data_.size() || data_.size() - offset < width) return 0;
    uint32_t value = 0;
    for (size_t i = 0; i < width; ++i) {
      const size_t at = big_endian_ ? offset + i : offset + width - 1 - i;
      value = value << 8 | static_cast<uint8_t>(data_[at]);
    }
    return value;
  }
  std::string_view Part(size_t offset, size_t size) const {
    return offset > data_.size() ? std::string_view() : data_.substr(offset, size);
  }

 private:
  const std::string_view data_;
  const bool big_endian_;
};

// Looks up an entry in the first directory of a TIFF block.
int TiffOrientation(std::string_view tiff) {
  if (tiff.starts_with(kExifMark)) tiff.remove_prefix(kExifMark.size());
  if (!tiff.starts_with("II") && !tiff.starts_with("MM")) return kUpright;
  const Bytes bytes(tiff, tiff[0] == 'M');
  const size_t directory = bytes.At(4, 4);
  const size_t count = bytes.At(directory, 2);
  for (size_t i = 0; i < count; ++i) {
    const size_t entry = directory + 2 + 12 * i;
    if (bytes.At(entry, 2) != kTag || bytes.At(entry + 2, 2) != kShort) continue;
    const auto value = static_cast<int>(bytes.At(entry + 8, 2));
    return value >= 1 && value <= 8 ? value : kUpright;
  }
  return kUpright;
}

// The segments before the picture itself.
std::string_view ExifOfJpeg(std::string_view file) {
  const Bytes bytes(file, true);
  for (size_t at = 2; bytes.At(at, 1) == 0xFF;) {
    const uint32_t marker = bytes.At(at + 1, 1);
    const size_t size = bytes.At(at + 2, 2);
    if (marker == 0xDA || size < 2) break;
    const std::string_view body = bytes.Part(at + 4, size - 2);
    if (marker == 0xE1 && body.starts_with(kExifMark)) return body;
    at += 2 + size;
  }
  return {};
}

std::string_view ExifOfPng(std::string_view file) {
  const Bytes bytes(file, true);
  for (size_t at = 8; at + 12 <= file.size();) {
    const size_t size = bytes.At(at, 4);
    if (bytes.Part(at + 4, 4) == "eXIf") return bytes.Part(at + 8, size);
    at += 12 + size;
  }
  return {};
}

std::string_view ExifOfWebp(std::string_view file) {
  const Bytes bytes(file, false);
  for (size_t at = 12; at + 8 <= file.size();) {
    const size_t size = bytes.At(at + 4, 4);
    if (bytes.Part(at, 4) == "EXIF") return bytes.Part(at + 8, size);
    at += 8 + size + size % 2;
  }
  return {};
}

}  // namespace

int ExifOrientation(std::string_view file) {
  if (file.starts_with("\xFF\xD8")) return TiffOrientation(ExifOfJpeg(file));
  if (file.starts_with("\x89PNG")) return TiffOrientation(ExifOfPng(file));
  if (file.starts_with("RIFF")) return TiffOrientation(ExifOfWebp(file));
  return kUpright;
}

int MatrixOrientation(absl::Span<const int32_t> matrix) {
  if (matrix.size() != 9) return kUpright;
  const auto sign = [](int32_t value) { return value > 0 ? 1 : value < 0 ? -1 : 0; };
  // Where the stored picture's right and down directions are shown.
  const std::array<int, 4> turn = {sign(matrix[0]), sign(matrix[1]), sign(matrix[3]),
                                   sign(matrix[4])};
  constexpr std::array<std::array<int, 4>, 8> kTurns = {{{1, 0, 0, 1},
                                                         {-1, 0, 0, 1},
                                                         {-1, 0, 0, -1},
                                                         {1, 0, 0, -1},
                                                         {0, 1, 1, 0},
                                                         {0, 1, -1, 0},
                                                         {0, -1, -1, 0},
                                                         {0, -1, 1, 0}}};
  for (size_t i = 0; i < kTurns.size(); ++i) {
    if (kTurns[i] == turn) return static_cast<int>(i) + 1;
  }
  return kUpright;
}

model::RgbImage Uprighted(model::RgbImage image, int orientation) {
  if (orientation <= kUpright || orientation > 8) return image;
  const bool turned = orientation >= 5;
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 ||
                          orientation == 8;  // the stored column shown first is the last
  const bool from_bottom =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  model::RgbImage upright{
      turned ? image.height : image.width, turned ? image.width : image.height, {}};
  upright.pixels.reserve(image.pixels.size());
  for (int y = 0; y < upright.height; ++y) {
    for (int x = 0; x < upright.width; ++x) {
      int column = turned ? y : x, row = turned ? x : y;
      if (from_right) column = image.width - 1 - column;
      if (from_bottom) row = image.height - 1 - row;
      const uint8_t* pixel = image.pixels.data() + (ptrdiff_t{row} * image.width + column) * 3;
      upright.pixels.insert(upright.pixels.end(), pixel, pixel + 3);
    }
  }
  return upright;
}

}  // namespace reel::worker
