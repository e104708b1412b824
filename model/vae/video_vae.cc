// SPDX-License-Identifier: Apache-2.0
#include "model/vae/video_vae.h"

#include "kernels/base/status_macros.h"

namespace reel::model {

absl::StatusOr<VideoVae> LoadVideoVae(const WeightSet& stored, const VaeConfig& config,
                                      at::ScalarType dtype, at::Device device,
                                      TensorsByName* shared) {
  Weights weights(stored, dtype, device, shared);
  VideoVae vae = {config, VaeEncoder(weights, config), VaeDecoder(weights, config), {}, 0};
  const at::Tensor mean = weights.Take("latents_mean", {config.latent_channels});
  const at::Tensor deviation = weights.Take("latents_std", {config.latent_channels});
  REEL_RETURN_IF_ERROR(weights.Finish());
  vae.statistics = {mean.view({1, -1, 1, 1, 1}), deviation.view({1, -1, 1, 1, 1}),
                    config.scaling_factor};
  vae.parameters = weights.parameters();
  return vae;
}

}  // namespace reel::model
