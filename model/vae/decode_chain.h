// SPDX-License-Identifier: Apache-2.0
// The decoder's layers as sources of frames; see frame_source.h.
#pragma once

#include <optional>

#include "model/frames/frame_chain.h"
#include "model/frames/frame_source.h"
#include "model/frames/row_part.h"
#include "model/vae/vae_config.h"
#include "model/vae/vae_layers.h"

namespace reel::model {

// The rows of the pictures that a rank of a group decodes; none outside a group.
using Part = std::optional<RowPart>;

// Three taps in time; the first and the last frame of the clip are repeated. `conv` is
// borrowed.
FrameSourcePtr ConvSource(FrameSourcePtr input, const VideoConv& conv, const Part& part);

// Two planes [h, w] of noise, undefined where none is injected.
struct ResnetNoise {
  at::Tensor first, second;
};

// `resnet` is borrowed.
FrameSourcePtr ResnetSource(FrameSourcePtr input, const VaeResnet& resnet,
                            const ResnetModulation& modulation, ResnetNoise noise,
                            const Part& part);

// More rows and columns, frames, or both, as the stage says, with the input added where it has a
// residual; where there are more frames, the very first is dropped. `conv` is borrowed.
FrameSourcePtr UpsampleSource(FrameSourcePtr input, const VideoConv& conv, const UpStage& stage,
                              const Part& part);

// Norm, modulation ([1, C, 1, 1, 1] or undefined), SiLU, the last convolution, pixels in -1..1.
FrameSourcePtr PixelSource(FrameSourcePtr input, const VideoConv& conv, int64_t patch,
                           const ResnetModulation& modulation, const Part& part);

}  // namespace reel::model
