// SPDX-License-Identifier: Apache-2.0
// Pictures to latents: the causal encoder of the video autoencoder.
#pragma once

#include <memory>
#include <vector>

#include "model/bridge/ops.h"
#include "model/frames/vae_tiles.h"
#include "model/layers/layer_ring.h"
#include "model/vae/vae_config.h"
#include "model/vae/vae_layers.h"

namespace reel::model {

// A distribution over latents, not normalised: [B, C, F, h, w] each, one variance for all channels.
struct LatentMoments {
  at::Tensor mean, log_variance;  // log_variance [B, 1, F, h, w]

  // mean + std * noise; `noise` has the mean's shape and type.
  at::Tensor Sample(const at::Tensor& noise) const;
};

// Peak of numbers in an encoder's memory for each pixel of a clip.
int64_t EncoderPixelNumbers(const VaeConfig& config);

// Immutable after loading.
class VaeEncoder {
 public:
  // Reads encoder.*; errors are remembered in `weights`. With a ring the residual blocks, nearly
  // all of it, stream through it.
  VaeEncoder(Weights& weights, const VaeConfig& config, std::shared_ptr<LayerRing> ring = nullptr);

  // `pixels` [B, 3, T, H, W] in -1..1, T = 8 k + 1.
  LatentMoments Encode(const Ops& ops, const at::Tensor& pixels,
                       const VaeTiling& tiling = {}) const;

  const StreamableBytes& layer_bytes() const { return layer_bytes_; }

 private:
  using Resnets = PlacedLayers<VaeResnet>;

  struct Stage {
    DownStage layout;
    Resnets resnets;
    VideoConv downsampler;
    VaeResnet conv_out;
  };

  Resnets TakeResnets(Weights& weights, const std::string& name, int64_t channels, int64_t count);
  Stage TakeStage(Weights& weights, const std::string& name, const DownStage& layout);
  static at::Tensor Run(const Ops& ops, const Resnets& resnets, at::Tensor x);
  static at::Tensor Run(const Ops& ops, const Stage& stage, at::Tensor x);

  // [B, C + 1, F, h, w]: the mean's channels, then the variance's.
  at::Tensor Whole(const Ops& ops, const at::Tensor& pixels) const;

  VaeConfig config_;
  std::shared_ptr<LayerRing> ring_;
  StreamableBytes layer_bytes_;
  VideoConv conv_in_, conv_out_;
  std::vector<Stage> stages_;
  Resnets mid_;
};

}  // namespace reel::model
