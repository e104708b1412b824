// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/picture_trimmer.h"

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"

namespace reel::worker {
namespace {

uint32_t LittleEndian(std::string_view bytes, size_t at, size_t width) {
  uint32_t value = 0;
  for (size_t i = width; i > 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[at + i - 1]);
  return value;
}

absl::Status CheckWebpSides(std::string_view type, std::string_view data, int64_t max_pixels) {
  constexpr uint32_t kSide = 0x3FFF;  // 14 bits
  if (data.size() < 10) return BrokenPicture();
  if (type == "VP8 ") {
    if (data.substr(3, 3) != "\x9D\x01\x2A") return BrokenPicture();
    return CheckSides(LittleEndian(data, 6, 2) & kSide, LittleEndian(data, 8, 2) & kSide,
                      max_pixels);
  }
  if (data[0] != '\x2F') return BrokenPicture();
  const uint32_t sides = LittleEndian(data, 1, 4);
  return CheckSides((sides & kSide) + 1, (sides >> 14 & kSide) + 1, max_pixels);
}

}  // namespace

PictureFormat FormatOf(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1A\n")) return PictureFormat::kPng;
  if (bytes.starts_with("\xFF\xD8\xFF")) return PictureFormat::kJpeg;
  if (bytes.size() > 12 && bytes.starts_with("RIFF") && bytes.substr(8, 4) == "WEBP") {
    return PictureFormat::kWebp;
  }
  return PictureFormat::kNone;
}

absl::Status CheckSides(int64_t width, int64_t height, int64_t max_pixels) {
  if (width <= 0 || height <= 0) return BrokenPicture();
  if (width <= max_pixels / height) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("has ", width, "x", height, " pixels, above ", max_pixels));
}

absl::Status CutOff() { return absl::InvalidArgumentError("is incomplete: its end is missing"); }

absl::Status BrokenPicture() {
  return absl::InvalidArgumentError("is damaged or of an unsupported kind");
}

absl::StatusOr<std::string> TrimWebp(std::string_view bytes, int64_t max_pixels) {
  constexpr size_t kHead = 12, kChunkHead = 8;
  for (size_t at = kHead; at + kChunkHead <= bytes.size();) {
    const std::string_view type = bytes.substr(at, 4);
    const size_t size = LittleEndian(bytes, at + 4, 4);
    if (size > bytes.size() - at - kChunkHead) return CutOff();
    if (type == "VP8 " || type == "VP8L") {
      REEL_RETURN_IF_ERROR(CheckWebpSides(type, bytes.substr(at + kChunkHead, size), max_pixels));
      std::string chunk(bytes.substr(at, kChunkHead + size));
      if (size % 2 != 0) chunk.push_back('\0');
      std::string file = "RIFF....WEBP" + chunk;
      const size_t left = file.size() - 8;
      for (size_t i = 0; i < 4; ++i) file[4 + i] = static_cast<char>(left >> (8 * i));
      return file;
    }
    at += kChunkHead + size + size % 2;
  }
  return BrokenPicture();
}

absl::StatusOr<std::string> TrimPicture(std::string_view bytes, int64_t max_pixels) {
  switch (FormatOf(bytes)) {
    case PictureFormat::kPng:
      return TrimPng(bytes, max_pixels);
    case PictureFormat::kJpeg:
      return TrimJpeg(bytes, max_pixels);
    case PictureFormat::kWebp:
      return TrimWebp(bytes, max_pixels);
    case PictureFormat::kNone:
      break;
  }
  return absl::InvalidArgumentError("is not a PNG, JPEG or WebP picture");
}

}  // namespace reel::worker
