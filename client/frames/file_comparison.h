// SPDX-License-Identifier: Apache-2.0
// Compares two video files frame by frame.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "client/frames/picture_distance.h"
#include "model/frame_sink.h"

namespace reel::client {

struct FileComparison {
  PictureDistance distance;
  model::RgbImage sheet;  // see ContactSheet
};

// INVALID_ARGUMENT names the file that cannot be read or is no video, or says that sizes or numbers
// of frames differ. Holds 32 frames of one file at a time.
absl::StatusOr<FileComparison> CompareFiles(const std::string& path_a, const std::string& path_b);

}  // namespace reel::client
