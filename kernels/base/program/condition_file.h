// SPDX-License-Identifier: Apache-2.0
// A picture or clip on disk that a video must contain, as programs' flags name it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace reel {

struct ConditionFile {
  std::string path;
  int frame_index = 0;
  double strength = 1;
};

// "FILE", "FILE@FRAME" or "FILE@FRAME:STRENGTH"; what stands behind the last @ is no part of the
// name.
std::optional<ConditionFile> ParseConditionFile(const std::string& text);

// All of it. INVALID_ARGUMENT names the file.
absl::StatusOr<std::string> ReadConditionFile(const std::string& path, int64_t max_bytes);

// An MP4, by its first box; everything else is taken for a picture, which tells itself.
bool IsClip(const std::string& bytes);

}  // namespace reel
