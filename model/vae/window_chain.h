// SPDX-License-Identifier: Apache-2.0
// The diffusion decoder's layers as sources of frames; see frame_source.h. A block makes a frame as
// soon as the frames of its window are there, and holds no more of them than a window has.
#pragma once

#include <cstdint>
#include <memory>

#include "model/frames/frame_source.h"
#include "model/layers/linear.h"
#include "model/vae/window_block.h"

namespace reel::model {

// What the pictures are made by: rows of the clip that blocks take one after the other, each later
// than the one before it.
class ContextRows {
 public:
  void Add(const at::Tensor& rows);
  // Those of frames of the clip, which must have been added and not dropped.
  at::Tensor Of(int64_t first, int64_t frames) const;
  void DropBefore(int64_t frame);

 private:
  at::Tensor rows_;  // [f, h, w, C]
  int64_t first_ = 0;
};

// What a block of the pictures has beyond the others.
struct PictureBlock {
  BlockModulation by;
  const Linear* from_context = nullptr;  // borrowed; null: none
  std::shared_ptr<ContextRows> context;
  bool drops_context = false;  // no later block takes it
};

// `block` is borrowed. Frames are exactly those of the whole clip, up to the order of additions.
FrameSourcePtr WindowBlockSource(FrameSourcePtr input, const WindowBlock& block,
                                 PictureBlock picture = {});

// The clip's last latents once more, `count` times, behind them.
FrameSourcePtr RepeatLastSource(FrameSourcePtr input, int64_t count);

// All frames but the last `count`.
FrameSourcePtr WithoutLast(FrameSourcePtr input, int64_t count);

}  // namespace reel::model
