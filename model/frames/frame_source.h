// SPDX-License-Identifier: Apache-2.0
// The decoder as a chain of sources: each frame is made when the next layer asks for it, so that a
// clip is decoded in order, exactly, with a few frames of memory in each layer.
#pragma once

#include <memory>

#include "model/bridge/ops.h"

namespace reel::model {

// One or more frames [1, C, f, h, w]; `last`: the clip ends with them. Between the decoder's layers
// a bias and a residual may still have to be added; what leaves the chain is x alone.
struct Frames {
  at::Tensor x;
  bool last = false;
  at::Tensor residual = {}, bias = {};

  FrameSum sum() const { return {x, residual, bias}; }
};

// Confined to the engine thread. Not to be asked again after the last frames.
class FrameSource {
 public:
  virtual ~FrameSource() = default;
  // By `ops`, which is of this call alone: each piece is told how it runs.
  virtual Frames Next(const Ops& ops) = 0;
};

using FrameSourcePtr = std::unique_ptr<FrameSource>;

}  // namespace reel::model
