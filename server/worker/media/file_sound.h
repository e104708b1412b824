// SPDX-License-Identifier: Apache-2.0
// Decodes the sound of a file that VideoEncoder wrote.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/frame_sink.h"

namespace reel::worker {

// All samples from time 0 on, interleaved. FAILED_PRECONDITION: the file has no sound of this
// format, or is damaged.
absl::StatusOr<std::vector<float>> DecodeFileSound(std::string_view file,
                                                   const model::SoundFormat& format);

}  // namespace reel::worker
