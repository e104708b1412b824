// SPDX-License-Identifier: Apache-2.0
// Decodes the pictures of a clip from the bytes of an MP4 file.
#pragma once

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "model/frame_sink.h"

namespace reel::worker {

// A picture of a clip, upright.
struct ClipPicture {
  model::RgbImage image;
  double begin = 0, end = 0;  // seconds behind the begin of the first picture
};

// Hands `take` each picture of the first video track, in the order in which they are shown, until
// it returns false or the clip ends. `proceed` is called between any two pieces of
// work, and its error ends the decoding. INVALID_ARGUMENT with the end of a sentence about the clip
// ("contains no video"): no MP4, a codec other than H.264, H.265, VP9, AV1 and MPEG-4, too many
// pixels, or broken. Nothing beside the bytes is opened or fetched, and no other track is read.
absl::Status DecodeClip(const std::string& bytes, int64_t max_pixels,
                        absl::FunctionRef<absl::Status()> proceed,
                        absl::FunctionRef<bool(ClipPicture)> take);

}  // namespace reel::worker
