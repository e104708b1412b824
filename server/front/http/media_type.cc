// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/media_type.h"

#include "absl/strings/str_cat.h"

namespace reel::front {
namespace {

// The box lies in the first 750 bytes of our files.
constexpr int64_t kLookedAt = 2048;

}  // namespace

std::string MediaTypeOfBytes(std::string_view first_bytes) {
  constexpr std::string_view kBox = "avcC";
  const size_t box = first_bytes.find(kBox);
  // Behind the name: version, profile, constraints, level.
  if (box == std::string_view::npos || box + kBox.size() + 4 > first_bytes.size()) {
    return "video/mp4";
  }
  const auto byte = [&](size_t at) {
    return absl::Hex(static_cast<unsigned char>(first_bytes[box + kBox.size() + at]),
                     absl::kZeroPad2);
  };
  return absl::StrCat("video/mp4; codecs=\"avc1.", byte(1), byte(2), byte(3), "\"");
}

std::string MediaTypeOf(const Job& job) {
  std::string told = job.Snapshot().media.content_type;
  if (!told.empty()) return told;
  std::string bytes;
  while (static_cast<int64_t>(bytes.size()) < kLookedAt) {
    auto piece = job.ReadMedia(static_cast<int64_t>(bytes.size()), kLookedAt);
    if (!piece.ok() || piece->bytes.empty()) break;
    bytes += piece->bytes;
  }
  return MediaTypeOfBytes(bytes);
}

}  // namespace reel::front
