// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/media_type.h"

#include "absl/strings/str_cat.h"

namespace reel::front {
namespace {

// The boxes lie in the first 1,100 bytes of our files.
constexpr size_t kLookedAt = 2048;

// Of the sound that this server writes.
constexpr char kSoundBox[] = "mp4a", kSoundCodec[] = ", mp4a.40.2";

}  // namespace

std::string MediaTypeOfBytes(std::string_view first_bytes) {
  constexpr std::string_view kBox = "avcC";
  first_bytes = first_bytes.substr(0, kLookedAt);
  const size_t box = first_bytes.find(kBox);
  // Behind the name: version, profile, constraints, level.
  if (box == std::string_view::npos || box + kBox.size() + 4 > first_bytes.size()) {
    return "video/mp4";
  }
  const auto byte = [&](size_t at) {
    return absl::Hex(static_cast<unsigned char>(first_bytes[box + kBox.size() + at]),
                     absl::kZeroPad2);
  };
  const bool has_sound = first_bytes.find(kSoundBox) != std::string_view::npos;
  return absl::StrCat("video/mp4; codecs=\"avc1.", byte(1), byte(2), byte(3),
                      has_sound ? kSoundCodec : "", "\"");
}

}  // namespace reel::front
