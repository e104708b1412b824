// SPDX-License-Identifier: Apache-2.0
// Stages that decoders of videos are chained of; see frame_source.h.
#pragma once

#include <functional>

#include "model/frames/frame_source.h"

namespace reel::model {

// Memory order of the decoder's frames: the channels of a pixel side by side, which convolutions
// and norms want.
inline constexpr auto kFrameMemory = at::MemoryFormat::ChannelsLast3d;

// The latents of a clip [1, C, F, h, w], `piece` at a time.
FrameSourcePtr LatentSource(at::Tensor latents, int64_t piece);

// The input's frames, at most `frames` at a time.
FrameSourcePtr SliceSource(FrameSourcePtr input, int64_t frames);

// `map` of each piece.
using MapFrames = std::function<Frames(const Ops& ops, const Frames& piece)>;
FrameSourcePtr MapSource(FrameSourcePtr input, MapFrames map);

// Writes a piece's frames, and the copies at the clip's ends, to where the convolution reads them.
using WritePiece =
    std::function<void(const Ops& ops, const Frames& piece, const PaddedFrames& out)>;
// Frames [1, C, f + 2, h, w] to f frames.
using ConvolveFrames = std::function<FrameSum(const Ops& ops, const at::Tensor& window)>;

// A convolution of three taps in time; the first and the last frame of the clip are repeated. It
// yields as many frames as come in, but one fewer at first, which comes with the last ones.
FrameSourcePtr TimeConvSource(FrameSourcePtr input, ConvolveFrames convolve, WritePiece write);

// Frames that were handed on and will be needed again, in order.
class WaitingFrames {
 public:
  void Add(const at::Tensor& x);
  // Appends as many frames as x has, which the caller writes.
  at::Tensor Room(const at::Tensor& x);
  at::Tensor Take(int64_t count);

 private:
  at::Tensor frames_;
};

}  // namespace reel::model
