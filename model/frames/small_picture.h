// SPDX-License-Identifier: Apache-2.0
// A small picture of a clip that is not finished.
#pragma once

#include "model/bridge/ops.h"
#include "model/frame_sink.h"

namespace reel::model {

// The first of pictures [1, 3, f, H, W] in -1..1, at most `max_side` pixels each way: of larger
// ones every so many pixels.
RgbImage SmallPicture(const Ops& ops, const at::Tensor& pictures, int max_side);

}  // namespace reel::model
