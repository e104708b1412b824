// SPDX-License-Identifier: Apache-2.0
// The decoder as a chain of sources: each frame is made when the next layer requests it. So a clip
// is decoded in order and exactly, with a few frames of memory in each layer.
#pragma once

#include <memory>

#include "model/bridge/ops.h"

namespace reel::model {

// One or more frames [1, C, f, h, w]; `last`: the clip ends with them. Between layers a bias and a
// residual may still have to be added; at the chain's end there is only x. None: the next latents
// do not exist yet. Asked again later, the source gives the frames of a clip that was whole.
struct Frames {
  at::Tensor x;
  bool last = false;
  at::Tensor residual = {}, bias = {};

  bool none() const { return !x.defined(); }
  FrameSum sum() const { return {x, residual, bias}; }
};

// Used by the engine thread. Not to be called again after the last frames.
class FrameSource {
 public:
  virtual ~FrameSource() = default;
  // Runs with `ops`, which is valid for this call only.
  virtual Frames Next(const Ops& ops) = 0;
};

using FrameSourcePtr = std::unique_ptr<FrameSource>;

}  // namespace reel::model
