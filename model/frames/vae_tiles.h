// SPDX-License-Identifier: Apache-2.0
// Runs the autoencoder in overlapping tiles, as diffusers does: less memory, other pictures. Off
// unless a model's folder enables it (card_file.h), since parity is promised for whole decodes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "model/frames/frame_source.h"

namespace reel::model {

// In pixels or frames; multiples of what one latent stands for.
struct Tiles {
  int64_t size = 0;
  int64_t stride = 0;  // less than the size: the rest is blended
};

// Pixels of a side, and frames, for one latent of an autoencoder.
struct Compression {
  int64_t space = 1, time = 1;
};

struct VaeTiling {
  std::optional<Tiles> space;   // both sides; for pictures with a longer side
  std::optional<Tiles> frames;  // for clips of more latents than this size

  bool any() const { return space.has_value() || frames.has_value(); }
};

// Decodes latents [1, C, F, h, w], whole; in the reference's order of tiles.
using DecodeWhole = std::function<FrameSourcePtr(const Ops& ops, const at::Tensor& latents)>;

// Keeps `decode` and calls it for each tile.
FrameSourcePtr DecodeInTiles(const VaeTiling& tiling, Compression by, const Ops& ops,
                             const at::Tensor& latents, DecodeWhole decode);

// Encodes pixels [1, 3, T, H, W] to [1, C, F, h, w], whole.
using EncodeWhole = std::function<at::Tensor(const at::Tensor& pixels)>;

at::Tensor EncodeInTiles(const VaeTiling& tiling, Compression by, const at::Tensor& pixels,
                         const EncodeWhole& encode);

}  // namespace reel::model
