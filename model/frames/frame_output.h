// SPDX-License-Identifier: Apache-2.0
// The decoder's pictures as a sink wants them.
#pragma once

#include "absl/status/status.h"
#include "model/bridge/ops.h"
#include "model/frame_sink.h"

namespace reel::model {

// Pictures [1, 3, f, H, W] in -1..1, cut to that, at another size.
at::Tensor Scaled(const at::Tensor& pictures, int64_t width, int64_t height);

// Converts pictures [1, 3, f, H, W] in -1..1 on their device and pushes them; DATA_LOSS when
// they contain NaN or Inf.
absl::Status PushFrames(const Ops& ops, const at::Tensor& pictures, FrameSink& sink);

}  // namespace reel::model
