// SPDX-License-Identifier: Apache-2.0
// The autoencoder in overlapping tiles, as diffusers has it: less memory, other pictures. Off
// unless a model's folder asks for it (card_file.h): what parity is promised for is decoded whole.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "model/frames/frame_source.h"

namespace reel::model {

// Of pixels or of frames; multiples of what one latent stands for.
struct Tiles {
  int64_t size = 0;
  int64_t stride = 0;  // less than the size: what is more is blended
};

// Pixels of a side, and frames, for one latent of an autoencoder.
struct Compression {
  int64_t space = 1, time = 1;
};

struct VaeTiling {
  std::optional<Tiles> space;   // both sides; for pictures with a side of more than the size
  std::optional<Tiles> frames;  // for clips of more latents than are in the size

  bool any() const { return space.has_value() || frames.has_value(); }
};

// Decodes latents [1, C, F, h, w], whole; in the reference's order of tiles.
using DecodeWhole = std::function<FrameSourcePtr(const Ops& ops, const at::Tensor& latents)>;

// `decode` is kept and called as the tiles are reached.
FrameSourcePtr DecodeInTiles(const VaeTiling& tiling, Compression by, const Ops& ops,
                             const at::Tensor& latents, DecodeWhole decode);

// Encodes pixels [1, 3, T, H, W] to [1, C, F, h, w], whole.
using EncodeWhole = std::function<at::Tensor(const at::Tensor& pixels)>;

at::Tensor EncodeInTiles(const VaeTiling& tiling, Compression by, const at::Tensor& pixels,
                         const EncodeWhole& encode);

}  // namespace reel::model
