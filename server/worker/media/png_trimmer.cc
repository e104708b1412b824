// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/worker/media/picture_trimmer.h"

namespace reel::worker {
namespace {

constexpr size_t kSignature = 8, kChunkFrame = 12, kHeadBytes = 13;
// Deflate expands a byte to at most this many.
constexpr int64_t kMostInflation = 1032;
// A surplus that is tolerated: a decoder skips it in milliseconds.
constexpr int64_t kSlack = 1 << 20;

uint32_t BigEndian(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

struct Head {
  int64_t width = 0, height = 0;
  int bits = 0;  // of a pixel
  bool interlaced = false;
};

absl::StatusOr<Head> ReadHead(std::string_view data, int64_t max_pixels) {
  if (data.size() != kHeadBytes) return BrokenPicture();
  Head head;
  head.width = BigEndian(data, 0);
  head.height = BigEndian(data, 4);
  REEL_RETURN_IF_ERROR(CheckSides(head.width, head.height, max_pixels));
  const int depth = data[8];
  const auto color = static_cast<size_t>(static_cast<uint8_t>(data[9]));
  constexpr int kChannels[] = {1, 0, 3, 1, 2, 0, 4};
  if (depth < 1 || depth > 16 || color >= std::size(kChannels) || kChannels[color] == 0) {
    return BrokenPicture();
  }
  head.bits = depth * kChannels[color];
  head.interlaced = data[12] != 0;
  return head;
}

// The size of the rows before compression, each with its filter byte.
int64_t RawBytes(const Head& head) {
  const auto rows = [&head](int64_t width, int64_t height) {
    return width == 0 || height == 0 ? 0 : height * (1 + (width * head.bits + 7) / 8);
  };
  if (!head.interlaced) return rows(head.width, head.height);
  struct Pass {
    int64_t x, y, step_x, step_y;
  };
  constexpr Pass kAdam7[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                             {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
  int64_t bytes = 0;
  for (const Pass& pass : kAdam7) {
    bytes += rows(std::max<int64_t>(0, head.width - pass.x + pass.step_x - 1) / pass.step_x,
                  std::max<int64_t>(0, head.height - pass.y + pass.step_y - 1) / pass.step_y);
  }
  return bytes;
}

class Inflater {
 public:
  Inflater() : ready_(inflateInit(&stream_) == Z_OK) {}
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Counts the bytes that the piece inflates to. False: the stream has ended or is broken, or more
  // than `most` came.
  bool Count(std::string_view piece, int64_t most) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream_.avail_in = static_cast<uInt>(piece.size());
    while (ready_ && stream_.avail_in > 0) {
      stream_.next_out = buffer_.data();
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      const int code = inflate(&stream_, Z_NO_FLUSH);
      bytes_ += static_cast<int64_t>(buffer_.size()) - stream_.avail_out;
      if (code != Z_OK || bytes_ > most) return false;
    }
    return ready_;
  }
  int64_t bytes() const { return bytes_; }

 private:
  z_stream stream_ = {};
  std::vector<Bytef> buffer_ = std::vector<Bytef>(64 << 10);
  int64_t bytes_ = 0;
  const bool ready_;
};

// The decoder finds what is broken, and stops there.
absl::Status CheckData(const std::vector<std::string_view>& pieces, const Head& head) {
  const int64_t most = RawBytes(head) + kSlack;
  int64_t left = 0;
  for (const std::string_view piece : pieces) left += static_cast<int64_t>(piece.size());
  Inflater inflater;
  for (const std::string_view piece : pieces) {
    if (inflater.bytes() + left * kMostInflation <= most) return absl::OkStatus();
    if (!inflater.Count(piece, most)) break;
    left -= static_cast<int64_t>(piece.size());
  }
  if (inflater.bytes() <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("holds more pixel data than its ", head.width, "x", head.height, " pixels"));
}

}  // namespace

absl::StatusOr<std::string> TrimPng(std::string_view bytes, int64_t max_pixels) {
  std::string trimmed(bytes.substr(0, kSignature));
  std::vector<std::string_view> data;
  Head head;
  for (size_t at = kSignature; at + kChunkFrame <= bytes.size();) {
    const size_t size = BigEndian(bytes, at);
    if (size > bytes.size() - at - kChunkFrame) return CutOff();
    const std::string_view chunk = bytes.substr(at, size + kChunkFrame);
    const std::string_view type = chunk.substr(4, 4), content = chunk.substr(8, size);
    if ((type == "IHDR") != (at == kSignature)) return BrokenPicture();
    if (type == "IHDR") {
      REEL_ASSIGN_OR_RETURN(head, ReadHead(content, max_pixels));
    }
    if (type == "IDAT") data.push_back(content);
    const bool is_needed = type == "IHDR" || type == "PLTE" || type == "tRNS" || type == "IDAT";
    if (is_needed || type == "IEND") trimmed += chunk;
    if (type == "IEND") {
      REEL_RETURN_IF_ERROR(CheckData(data, head));
      return trimmed;
    }
    at += chunk.size();
  }
  return CutOff();
}

}  // namespace reel::worker
