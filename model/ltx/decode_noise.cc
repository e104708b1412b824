// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/decode_noise.h"

#include "model/bridge/random.h"

namespace reel::model::ltx {

at::Tensor DrawDecodeNoise(const LtxModel& model, const LatentShape& shape,
                           at::Generator& generator) {
  return DrawNormal({1, model.vae_config.latent_channels, shape.frames, shape.height, shape.width},
                    generator, at::dtype(model.dtype));
}

at::Tensor Decodable(const LtxModel& model, const GenerationSpec& spec, const at::Tensor& latents,
                     const at::Tensor& noise) {
  const at::Tensor x = model.statistics.Denormalize(latents).to(model.dtype);
  if (!noise.defined()) return x;
  const double time = spec.decode_timestep.value_or(0);
  return Noised(x, noise.to(x.device()), spec.decode_noise_scale.value_or(time));
}

}  // namespace reel::model::ltx
