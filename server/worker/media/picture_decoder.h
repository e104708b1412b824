// SPDX-License-Identifier: Apache-2.0
// One picture from the bytes of a PNG, JPEG or WebP file, upright, as RGB.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "model/frame_sink.h"

namespace reel::worker {

// INVALID_ARGUMENT with the end of a sentence about the picture ("is incomplete: its end is
// missing"): another format, more than `max_pixels`, more work than pixels (both are found before a
// decoder is made, see picture_trimmer.h), or broken. Nothing is opened or fetched beside the
// bytes.
absl::StatusOr<model::RgbImage> DecodePicture(const std::string& bytes, int64_t max_pixels);

}  // namespace reel::worker
