// SPDX-License-Identifier: Apache-2.0
// The stages that video decoders are built from; see frame_source.h.
#pragma once

#include <functional>

#include "model/frames/frame_source.h"

namespace reel::model {

// The memory order of the decoder's frames: a pixel's channels are contiguous, as convolutions and
// norms want.
inline constexpr auto kFrameMemory = at::MemoryFormat::ChannelsLast3d;

// Yields the latents of a clip [1, C, F, h, w], `piece` at a time.
FrameSourcePtr LatentSource(at::Tensor latents, int64_t piece);

// Yields the input's frames, at most `frames` at a time.
FrameSourcePtr SliceSource(FrameSourcePtr input, int64_t frames);

// Applies `map` to each piece.
using MapFrames = std::function<Frames(const Ops& ops, const Frames& piece)>;
FrameSourcePtr MapSource(FrameSourcePtr input, MapFrames map);

// Writes a piece's frames, and the copies at the clip's ends, to the convolution's input.
using WritePiece =
    std::function<void(const Ops& ops, const Frames& piece, const PaddedFrames& out)>;
// Turns frames [1, C, f + 2, h, w] into f frames.
using ConvolveFrames = std::function<FrameSum(const Ops& ops, const at::Tensor& window)>;

// A convolution of three taps in time; the first and the last frame of the clip are repeated. It
// yields as many frames as come in, but one fewer at first, which comes with the last ones.
FrameSourcePtr TimeConvSource(FrameSourcePtr input, ConvolveFrames convolve, WritePiece write);

// Frames that were passed on and will be needed again, in order.
class WaitingFrames {
 public:
  void Add(const at::Tensor& x);
  // Appends as many frames as x has, which the caller must write.
  at::Tensor Room(const at::Tensor& x);
  at::Tensor Take(int64_t count);

 private:
  at::Tensor frames_;
};

}  // namespace reel::model
