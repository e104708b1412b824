// SPDX-License-Identifier: Apache-2.0
// Reads a picture or clip that a program's flags name.
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

// Parses "FILE", "FILE@FRAME" or "FILE@FRAME:STRENGTH"; text after the last @ is not part of the
// name.
std::optional<ConditionFile> ParseConditionFile(const std::string& text);

// Parses "FILE" or "FILE:STRENGTH", of a clip that has no frame to begin at. What stands behind the
// last colon is the strength if it is a number.
std::optional<ConditionFile> ParseReferenceFile(const std::string& text);

// Reads the whole file. INVALID_ARGUMENT names the file.
absl::StatusOr<std::string> ReadConditionFile(const std::string& path, int64_t max_bytes);

// Recognises an MP4 by its first box; everything else counts as a picture, whose decoder recognises
// it.
bool IsClip(const std::string& bytes);

}  // namespace reel
