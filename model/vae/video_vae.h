// SPDX-License-Identifier: Apache-2.0
// A video autoencoder with the statistics of its latents.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "model/latents/latents.h"
#include "model/layers/weights.h"
#include "model/vae/vae_config.h"
#include "model/vae/vae_decoder.h"
#include "model/vae/vae_encoder.h"

namespace reel::model {

// Immutable after loading.
struct VideoVae {
  VaeConfig config;
  VaeEncoder encoder;
  VaeDecoder decoder;
  LatentStatistics statistics;
  int64_t parameters;
};

// Undefined tensors after an error of `weights`.
LatentStatistics TakeStatistics(Weights& weights, const VaeConfig& config, at::ScalarType dtype);

// `shared`: see Weights; `ring`: see VaeEncoder. FAILED_PRECONDITION names the tensor that is
// missing, has another shape or is not used.
absl::StatusOr<VideoVae> LoadVideoVae(const WeightSet& stored, const VaeConfig& config,
                                      at::ScalarType dtype, at::Device device,
                                      TensorsByName* shared = nullptr,
                                      std::shared_ptr<LayerRing> ring = nullptr);

}  // namespace reel::model
