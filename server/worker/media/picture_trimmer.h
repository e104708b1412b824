// SPDX-License-Identifier: Apache-2.0
// Prepares a picture's file for its decoder: checks the head, removes what no pixel needs, and
// refuses more work than its size explains.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace reel::worker {

enum class PictureFormat { kNone, kPng, kJpeg, kWebp };
PictureFormat FormatOf(std::string_view bytes);

// INVALID_ARGUMENT with the end of a sentence about the picture: more than `max_pixels`, cut off,
// of unknown structure, or a bomb. A bomb has more data than pixels (PNG), or very many scans,
// tables or frames (JPEG). No pixel is decoded; a PNG's data are inflated up to its pixels' size,
// without being kept. Removed: text, profiles, thumbnails, transparency beside the picture, further
// pictures.
absl::StatusOr<std::string> TrimPicture(std::string_view bytes, int64_t max_pixels);

// The same for one format.
absl::StatusOr<std::string> TrimPng(std::string_view bytes, int64_t max_pixels);
absl::StatusOr<std::string> TrimJpeg(std::string_view bytes, int64_t max_pixels);
absl::StatusOr<std::string> TrimWebp(std::string_view bytes, int64_t max_pixels);

// Texts for these errors: "has 8000x6000 pixels, above 16000000", or "is damaged" without any.
absl::Status CheckSides(int64_t width, int64_t height, int64_t max_pixels);
absl::Status CutOff();
absl::Status BrokenPicture();

}  // namespace reel::worker
