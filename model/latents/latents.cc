// SPDX-License-Identifier: Apache-2.0
#include "model/latents/latents.h"

namespace reel::model {

at::Tensor PackLatents(const at::Tensor& grid) {
  return grid.permute({0, 2, 3, 4, 1}).flatten(1, 3).contiguous();
}

at::Tensor UnpackLatents(const at::Tensor& tokens, const LatentShape& shape) {
  return tokens.unflatten(1, {shape.frames, shape.height, shape.width})
      .permute({0, 4, 1, 2, 3})
      .contiguous();
}

at::Tensor Noised(const at::Tensor& latents, const at::Tensor& noise, double sigma) {
  const at::Tensor scale = at::full({}, sigma, latents.options());
  return (1 - scale) * latents + scale * noise;
}

at::Tensor LatentStatistics::Normalize(const at::Tensor& latents) const {
  return (latents - mean.to(latents.scalar_type())) * 1.0 / deviation.to(latents.scalar_type());
}

at::Tensor LatentStatistics::Denormalize(const at::Tensor& latents) const {
  return latents * deviation.to(latents.scalar_type()) / scaling_factor +
         mean.to(latents.scalar_type());
}

}  // namespace reel::model
