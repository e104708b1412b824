// SPDX-License-Identifier: Apache-2.0
// Reads the camera orientation of pictures and clips, and turns the picture upright.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "model/frame_sink.h"

namespace reel::worker {

// EXIF's numbers: 1 is upright, 2 to 8 are the other turns and mirrors.
inline constexpr int kUpright = 1;

// Reads it from a whole PNG, JPEG or WebP file. kUpright if it is missing or not a number of
// EXIF's.
int ExifOrientation(std::string_view file);

// Reads it from an MP4 track's display matrix (9 numbers); kUpright unless it is a quarter turn.
int MatrixOrientation(absl::Span<const int32_t> matrix);

// Turns and mirrors `image` until it is upright.
model::RgbImage Uprighted(model::RgbImage image, int orientation);

}  // namespace reel::worker
