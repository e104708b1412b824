// SPDX-License-Identifier: Apache-2.0
// Frames as a convolution leaves them to the next layer, which adds the rest in its own pass.
#pragma once

#include "model/bridge/aten.h"

namespace reel::model {

// x + bias + residual, of what is there.
struct FrameSum {
  at::Tensor x;              // [B, C, F, H, W]
  at::Tensor residual = {};  // like x where no more is said
  at::Tensor bias = {};      // [C]

  bool is_x() const { return !residual.defined() && !bias.defined(); }
  at::Tensor Made() const {
    const at::Tensor biased = bias.defined() ? x + bias.view({1, -1, 1, 1, 1}) : x;
    return residual.defined() ? biased + residual : biased;
  }
};

// Frames [B, C, front + F + back, H, W] around F, copies of the first and of the last of them.
struct PaddedFrames {
  at::Tensor all;
  int64_t front = 0, back = 0;

  at::Tensor inner() const { return all.slice(2, front, all.size(2) - back); }
  // After the inner ones are written.
  void CopyEnds() const {
    const at::Tensor frames = inner();
    if (front > 0) all.slice(2, 0, front).copy_(frames.slice(2, 0, 1));
    if (back > 0) all.slice(2, all.size(2) - back).copy_(frames.slice(2, frames.size(2) - 1));
  }
};

}  // namespace reel::model
