// SPDX-License-Identifier: Apache-2.0
// Converts decoded frames to 8-bit RGB. Transparency is dropped, not blended, and deeper samples
// keep their upper byte: both as the reference's `convert("RGB")` does.
#pragma once

#include "absl/status/statusor.h"
#include "model/frame_sink.h"
#include "server/worker/media/av_handles.h"

namespace reel::worker {

// Converts a picture stored as RGB, grey or a palette, exactly. UNIMPLEMENTED for other formats.
absl::StatusOr<model::RgbImage> RgbOfPacked(const AVFrame& frame);

// Converts a JPEG's planes as libjpeg does: chroma through its triangle filter and in its integers.
// UNIMPLEMENTED for samplings other than 4:4:4, 4:2:2, 4:2:0 and grey.
absl::StatusOr<model::RgbImage> RgbOfJpeg(const AVFrame& frame);

// Converts a lossy WebP's planes as libwebp does. UNIMPLEMENTED for other formats.
absl::StatusOr<model::RgbImage> RgbOfWebp(const AVFrame& frame);

// Converts any other frame, in its own matrix and range. `scaler` is kept between calls; `flags`
// are swscale's.
absl::StatusOr<model::RgbImage> RgbOfFrame(const AVFrame& frame, int flags, SwsContextPtr& scaler);

}  // namespace reel::worker
