// SPDX-License-Identifier: Apache-2.0
// Frames of an MP4 in memory, decoded by libav: what a player would show.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace reel::tests {

struct LumaFrame {
  int width = 0, height = 0;
  std::vector<uint8_t> luma;  // [height, width]
};

// Every frame of the file, or of the part of it that is there; an error when anything in it does
// not decode.
absl::StatusOr<std::vector<LumaFrame>> DecodeMp4(const std::string& file);

}  // namespace reel::tests
