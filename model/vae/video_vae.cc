// SPDX-License-Identifier: Apache-2.0
#include "model/vae/video_vae.h"

#include <utility>

#include "kernels/base/status_macros.h"

namespace reel::model {

LatentStatistics TakeStatistics(Weights& weights, const VaeConfig& config, at::ScalarType dtype) {
  const auto take = [&](const char* name) {
    const at::Tensor values = weights.TakeAs(name, {config.latent_channels}, dtype);
    return values.defined() ? values.view({1, -1, 1, 1, 1}) : values;
  };
  const at::Tensor mean = take("latents_mean"), deviation = take("latents_std");
  return {mean, deviation, config.scaling_factor};
}

absl::StatusOr<VideoVae> LoadVideoVae(const WeightSet& stored, const VaeConfig& config,
                                      at::ScalarType dtype, at::Device device,
                                      TensorsByName* shared, std::shared_ptr<LayerRing> ring) {
  Weights weights(stored, dtype, device, shared);
  VideoVae vae = {
      config, VaeEncoder(weights, config, std::move(ring)), VaeDecoder(weights, config), {}, 0};
  vae.statistics = TakeStatistics(weights, config, dtype);
  REEL_RETURN_IF_ERROR(weights.Finish());
  vae.parameters = weights.parameters();
  return vae;
}

}  // namespace reel::model
