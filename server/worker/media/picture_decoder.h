// SPDX-License-Identifier: Apache-2.0
// Decodes a PNG, JPEG or WebP file to one upright RGB picture.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "model/frame_sink.h"

namespace reel::worker {

// INVALID_ARGUMENT has the end of a sentence about the picture ("is incomplete: its end is
// missing"). Refused: another format, a broken file, more than `max_pixels`, too much work (both
// checked before decoding, see picture_trimmer.h). Nothing beside the bytes is opened or fetched.
absl::StatusOr<model::RgbImage> DecodePicture(const std::string& bytes, int64_t max_pixels);

}  // namespace reel::worker
