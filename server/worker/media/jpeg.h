// SPDX-License-Identifier: Apache-2.0
// Encodes preview pictures as JPEG.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "model/frame_sink.h"

namespace reel::worker {

struct JpegImage {
  std::string bytes;
  int width = 0;
  int height = 0;
};

// Shrinks `image` so that no side is longer than `max_side` (never enlarges) and sides are even.
// The same image gives the same bytes. Errors are INTERNAL.
absl::StatusOr<JpegImage> EncodeJpeg(const model::RgbImage& image, int max_side);

}  // namespace reel::worker
