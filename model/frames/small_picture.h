// SPDX-License-Identifier: Apache-2.0
// Makes a small picture of an unfinished clip.
#pragma once

#include "model/bridge/ops.h"
#include "model/frame_sink.h"

namespace reel::model {

// The first of pictures [1, 3, f, H, W] in -1..1, at most `max_side` pixels a side, by skipping
// pixels.
RgbImage SmallPicture(const Ops& ops, const at::Tensor& pictures, int max_side);

}  // namespace reel::model
