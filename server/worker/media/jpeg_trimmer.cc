// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/worker/media/picture_trimmer.h"

namespace reel::worker {
namespace {

// Editors write ten scans. Each scan visits all blocks of the picture, however few bytes it has.
constexpr int kMostScans = 64;
// A set of tables has 600 bytes, and may come before each scan.
constexpr size_t kMostTableBytes = 256 << 10;

enum Marker : uint8_t {
  kBaseline = 0xC0,
  kLossless = 0xC3,
  kHuffman = 0xC4,
  kLastFrame = 0xCF,
  kFirstRestart = 0xD0,
  kLastRestart = 0xD7,
  kStart = 0xD8,
  kEnd = 0xD9,
  kScan = 0xDA,
  kQuantization = 0xDB,
  kRestartInterval = 0xDD,
  kAdobe = 0xEE,
  kFirstMetadata = 0xE0,
  kLastMetadata = 0xEF,
  kComment = 0xFE,
};

uint8_t At(std::string_view bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }

size_t Size(std::string_view bytes, size_t at) {
  return size_t{At(bytes, at)} << 8 | At(bytes, at + 1);
}

// Lengths that do not add up would leave a decoder in the middle of a table.
bool QuantizationAddsUp(std::string_view body) {
  while (!body.empty()) {
    const size_t size = (At(body, 0) >> 4) == 0 ? 65 : 129;
    if (body.size() < size) return false;
    body.remove_prefix(size);
  }
  return true;
}

bool HuffmanAddsUp(std::string_view body) {
  while (!body.empty()) {
    size_t size = 17;
    if (body.size() < size) return false;
    for (size_t i = 1; i <= 16; ++i) size += At(body, i);
    if (body.size() < size) return false;
    body.remove_prefix(size);
  }
  return true;
}

// The end of the coded data that starts at `at`: the next marker that is not a restart.
size_t EndOfData(std::string_view bytes, size_t at) {
  for (at = bytes.find('\xFF', at); at != std::string_view::npos; at = bytes.find('\xFF', at + 1)) {
    if (at + 1 >= bytes.size()) break;
    const uint8_t next = At(bytes, at + 1);
    const bool is_data = next == 0 || (next >= kFirstRestart && next <= kLastRestart);
    if (!is_data && next != 0xFF) return at;
  }
  return bytes.size();
}

class JpegTrimmer {
 public:
  JpegTrimmer(std::string_view bytes, int64_t max_pixels)
      : bytes_(bytes), max_pixels_(max_pixels), trimmed_(bytes.substr(0, 2)) {}

  absl::StatusOr<std::string> Run() {
    while (FindMarker()) {
      const uint8_t marker = At(bytes_, at_ + 1);
      if (marker == kStart || (marker >= kFirstRestart && marker <= kLastRestart)) {
        at_ += 2;
      } else if (marker == kEnd) {
        if (scans_ == 0) return BrokenPicture();
        trimmed_ += bytes_.substr(at_, 2);
        return std::move(trimmed_);
      } else {
        REEL_RETURN_IF_ERROR(TakeSegment(marker));
      }
    }
    return CutOff();
  }

 private:
  // Bytes between segments are skipped, as decoders do.
  bool FindMarker() {
    for (at_ = bytes_.find('\xFF', at_); at_ != std::string_view::npos && at_ + 1 < bytes_.size();
         at_ = bytes_.find('\xFF', at_ + 1)) {
      const uint8_t next = At(bytes_, at_ + 1);
      if (next >= kBaseline && next != 0xFF) return true;
    }
    return false;
  }

  absl::Status TakeSegment(uint8_t marker) {
    if (bytes_.size() - at_ < 4) return CutOff();
    const size_t size = Size(bytes_, at_ + 2);
    if (size < 2) return BrokenPicture();
    if (size > bytes_.size() - at_ - 2) return CutOff();
    const std::string_view body = bytes_.substr(at_ + 4, size - 2);
    size_t end = at_ + 2 + size;
    bool is_needed = true;
    if (marker == kQuantization || marker == kHuffman) {
      REEL_RETURN_IF_ERROR(CheckTables(marker, body));
    } else if (marker >= kBaseline && marker <= kLossless) {
      REEL_RETURN_IF_ERROR(CheckFrame(body));
    } else if (marker == kScan) {
      REEL_RETURN_IF_ERROR(CheckScan(body));
      end = EndOfData(bytes_, end);
    } else if (marker == kRestartInterval) {
      if (body.size() != 2) return BrokenPicture();
    } else if (marker == kComment || (marker >= kFirstMetadata && marker <= kLastMetadata)) {
      // The segment that says which colours the components are.
      is_needed = marker == kAdobe && body.starts_with("Adobe") && body.size() == 12;
    } else {
      return BrokenPicture();  // arithmetic coding and other processes that nobody writes
    }
    if (is_needed) trimmed_ += bytes_.substr(at_, end - at_);
    at_ = end;
    return absl::OkStatus();
  }

  absl::Status CheckTables(uint8_t marker, std::string_view body) {
    const bool adds_up = marker == kHuffman ? HuffmanAddsUp(body) : QuantizationAddsUp(body);
    if (!adds_up) return BrokenPicture();
    table_bytes_ += body.size();
    if (table_bytes_ <= kMostTableBytes) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("has more than ", kMostTableBytes >> 10, " KiB of tables"));
  }

  absl::Status CheckFrame(std::string_view body) {
    if (has_frame_) return absl::InvalidArgumentError("has more than one frame");
    has_frame_ = true;
    if (body.size() < 6 || body.size() != 6 + size_t{3} * At(body, 5)) return BrokenPicture();
    return CheckSides(static_cast<int64_t>(Size(body, 3)), static_cast<int64_t>(Size(body, 1)),
                      max_pixels_);
  }

  absl::Status CheckScan(std::string_view body) {
    const bool adds_up = !body.empty() && body.size() == 4 + size_t{2} * At(body, 0);
    if (!has_frame_ || !adds_up) return BrokenPicture();
    if (++scans_ <= kMostScans) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("has more than ", kMostScans, " scans"));
  }

  const std::string_view bytes_;
  const int64_t max_pixels_;
  std::string trimmed_;
  size_t at_ = 2;
  bool has_frame_ = false;
  int scans_ = 0;
  size_t table_bytes_ = 0;
};

}  // namespace

absl::StatusOr<std::string> TrimJpeg(std::string_view bytes, int64_t max_pixels) {
  return JpegTrimmer(bytes, max_pixels).Run();
}

}  // namespace reel::worker
