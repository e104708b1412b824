// SPDX-License-Identifier: Apache-2.0
// Positions of tokens, and the angles that encode them for the transformer. Always fp32.
#pragma once

#include <cstdint>

#include "model/bridge/aten.h"
#include "model/bridge/ops.h"
#include "model/latents/latents.h"

namespace reel::model::ltx {

// Pixels of a side, and frames, for one latent.
inline constexpr int kSpatial = 32, kTemporal = 8;

// Token coordinates [3, N] in fractions of the model's base (20 s, 2048 px), token order frame,
// row, column. Of the text and image pipelines: latent frame f is at 8 f / frame_rate.
at::Tensor PlainCoordinates(const LatentShape& shape, double frame_rate);
// Coordinates of the condition pipeline. The first latent is one frame, later ones are eight frames
// each; `frame_index` moves a condition's tokens in time.
at::Tensor CausalCoordinates(const LatentShape& shape, double frame_rate, int64_t frame_index);

// The table of `coordinates` [3, N] for a transformer of this width.
RopeTable MakeRopeTable(const at::Tensor& coordinates, int64_t width);

}  // namespace reel::model::ltx
