// SPDX-License-Identifier: Apache-2.0
// Converts latents between grids and tokens, and normalises them.
#pragma once

#include <cstdint>

#include "model/bridge/aten.h"

namespace reel::model {

// Latent sizes of a clip.
struct LatentShape {
  int64_t frames = 0, height = 0, width = 0;

  int64_t tokens() const { return frames * height * width; }
};

// [B, C, F, h, w] to [B, F h w, C], and back.
at::Tensor PackLatents(const at::Tensor& grid);
at::Tensor UnpackLatents(const at::Tensor& tokens, const LatentShape& shape);

// Interpolates between latents, at 0, and noise, at 1; in the latents' type.
at::Tensor Noised(const at::Tensor& latents, const at::Tensor& noise, double sigma);

// Mean and deviation of each channel of the autoencoder's latents, [1, C, 1, 1, 1].
struct LatentStatistics {
  at::Tensor mean, deviation;
  double scaling_factor = 1;

  // In the latents' own type. Encoders omit the scaling factor, as the reference does.
  at::Tensor Normalize(const at::Tensor& latents) const;
  at::Tensor Denormalize(const at::Tensor& latents) const;
};

}  // namespace reel::model
