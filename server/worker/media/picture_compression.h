// SPDX-License-Identifier: Apache-2.0
// Compresses a picture as a frame of a clip, and decodes it again. Some models learnt from such
// frames, and animate a sharp picture less.
#pragma once

#include "absl/status/statusor.h"
#include "model/frame_sink.h"

namespace reel::worker {

// One key frame of x264's preset veryfast at `crf`, from 1 to 51; odd sides lose their last line.
// What comes out depends on the version of x264. INVALID_ARGUMENT with the end of a sentence about
// the picture: a side that H.264 cannot have.
absl::StatusOr<model::RgbImage> Compressed(const model::RgbImage& image, int crf);

}  // namespace reel::worker
