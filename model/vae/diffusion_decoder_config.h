// SPDX-License-Identifier: Apache-2.0
// The layout of the diffusion decoder as its network is built; families read theirs from
// configurations.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/latents/latents.h"

namespace reel::model {

// Frames, rows and columns of the window that each place attends to.
using WindowSizes = std::array<int64_t, 3>;

// Blocks, then a linear layer whose outputs become more frames, rows and columns.
struct WindowStage {
  int64_t channels = 0, blocks = 0;
  WindowSizes window = {1, 1, 1};
  std::array<int64_t, 3> strides = {1, 1, 1};
  int64_t channels_after = 0;
};

struct DiffusionDecoderConfig {
  int64_t latent_channels = 128;
  int64_t patch = 4;
  double scaling_factor = 1;
  int64_t head_width = 64;
  int64_t time_width = 384;
  double time_multiplier = 1000;
  std::vector<WindowStage> stages;  // from latents to what the pictures are made by
  // Of the blocks that make pictures of noise.
  int64_t channels = 256, blocks = 8;
  WindowSizes window = {11, 11, 11};
  int64_t spatial_compression = 32, temporal_compression = 8;

  // Copies of the last latent frame behind the clip. They are dropped before pictures are made, and
  // move the clip's end away from where windows are moved inside.
  int64_t latents_behind() const;
  // The shortest and smallest clip: each stage must have as many places as its windows.
  LatentShape Least() const;
  // An upper bound of the numbers that a decode holds for each pixel of one frame, whatever the
  // clip's length.
  int64_t PixelNumbers() const;
};

}  // namespace reel::model
