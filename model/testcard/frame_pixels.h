// SPDX-License-Identifier: Apache-2.0
// Converts 8-bit RGB to a sink's format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "model/frame_sink.h"

namespace reel::model {

// Appends one frame of `rgb`, [height, width, 3]; sizes are even. I420 is BT.709, limited range,
// each chroma sample the mean of its four pixels.
void AppendFrame(absl::Span<const uint8_t> rgb, int width, FrameFormat format,
                 std::vector<std::byte>& out);

}  // namespace reel::model
