// SPDX-License-Identifier: Apache-2.0
// Converts the decoder's pictures for a sink.
#pragma once

#include "absl/status/status.h"
#include "model/bridge/ops.h"
#include "model/frame_sink.h"

namespace reel::model {

// Scales pictures [1, 3, f, H, W] and clamps them to -1..1.
at::Tensor Scaled(const at::Tensor& pictures, int64_t width, int64_t height);

// Converts pictures [1, 3, f, H, W] in -1..1 on their device and pushes them; DATA_LOSS if they
// contain NaN or Inf.
absl::Status PushFrames(const Ops& ops, const at::Tensor& pictures, FrameSink& sink);

}  // namespace reel::model
