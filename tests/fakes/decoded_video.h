// SPDX-License-Identifier: Apache-2.0
// Decodes a file in memory as a player would: an MP4, a part of one, or a JPEG.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace reel::testing {

struct DecodedVideo {
  int width = 0, height = 0;
  std::vector<std::vector<uint8_t>> luma;  // a plane [height, width] per frame
  int sample_rate = 0, channels = 0;       // 0: it has no sound
  std::vector<float> sound;                // the channels side by side, from time 0 on
};

// DATA_LOSS when libav has anything to complain about, a warning included. Thread-safe.
absl::StatusOr<DecodedVideo> Decode(std::string_view file);

// What plays of a file whose end is missing, whatever libav says of that. Thread-safe.
DecodedVideo DecodeStart(std::string_view file);

}  // namespace reel::testing
