// SPDX-License-Identifier: Apache-2.0
// Converts decoded frames to RGB of 8 bits. Transparency is dropped, not blended, and of deeper
// samples the upper byte is taken: both as the reference's `convert("RGB")` has it.
#pragma once

#include "absl/status/statusor.h"
#include "model/frame_sink.h"
#include "server/worker/media/av_handles.h"

namespace reel::worker {

// A picture that is stored as RGB, grey or a palette: exact.
// UNIMPLEMENTED for other formats.
absl::StatusOr<model::RgbImage> RgbOfPacked(const AVFrame& frame);

// A JPEG's planes, as libjpeg makes them RGB: chroma is interpolated with its triangle filter, and
// converted with its integers. UNIMPLEMENTED for samplings other than 4:4:4, 4:2:2, 4:2:0 and grey.
absl::StatusOr<model::RgbImage> RgbOfJpeg(const AVFrame& frame);

// A lossy WebP's planes, as libwebp makes them RGB. UNIMPLEMENTED for other formats.
absl::StatusOr<model::RgbImage> RgbOfWebp(const AVFrame& frame);

// Any other frame, in its own matrix and range. `scaler` is kept between calls; `flags` are
// swscale's.
absl::StatusOr<model::RgbImage> RgbOfFrame(const AVFrame& frame, int flags, SwsContextPtr& scaler);

}  // namespace reel::worker
