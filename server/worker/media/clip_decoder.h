// SPDX-License-Identifier: Apache-2.0
// Decodes the pictures of a clip from the bytes of an MP4 file.
#pragma once

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "model/frame_sink.h"

namespace reel::worker {

// Hands `take` each picture of the first video track in the order in which they are shown, upright,
// until it returns false or the clip ends. `proceed` is asked between any two pieces of work, and
// its error ends the decoding.
// INVALID_ARGUMENT with the end of a sentence about the clip ("contains no video"): no MP4, a codec
// that is none of H.264, H.265, VP9, AV1 and MPEG-4, more than `max_pixels` in a picture, or
// broken. Nothing is opened or fetched beside the bytes, and no track but that one is read.
absl::Status DecodeClip(const std::string& bytes, int64_t max_pixels,
                        absl::FunctionRef<absl::Status()> proceed,
                        absl::FunctionRef<bool(model::RgbImage)> take);

}  // namespace reel::worker
