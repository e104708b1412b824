// SPDX-License-Identifier: Apache-2.0
// The decoder's pictures as a sink wants them.
#pragma once

#include "absl/status/status.h"
#include "model/bridge/aten.h"
#include "model/frame_sink.h"

namespace reel::model::ltx {

// Pictures [1, 3, f, H, W] in -1..1 to [f, H, W, 3] fp32 in 0..1, clamped in their own type as the
// reference does it.
at::Tensor ToUnitRgb(const at::Tensor& pictures);

// 8 bits of each, rounded half to even.
at::Tensor ToRgb8(const at::Tensor& unit_rgb);

// Frames [f, H, W, 3] in 0..1 as planes Y, U, V: BT.709, limited range, chroma halfway between rows
// and on the left column, edges repeated. H and W are even.
std::vector<uint8_t> ToI420(const at::Tensor& unit_rgb);

// Converts and pushes; DATA_LOSS when there are pixels that are no numbers.
absl::Status PushFrames(const at::Tensor& pictures, FrameSink& sink);

}  // namespace reel::model::ltx
