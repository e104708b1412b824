// SPDX-License-Identifier: Apache-2.0
// Pictures to latents: the causal encoder of the video autoencoder.
#pragma once

#include <vector>

#include "model/bridge/ops.h"
#include "model/frames/vae_tiles.h"
#include "model/vae/vae_config.h"
#include "model/vae/vae_layers.h"

namespace reel::model {

// A distribution over latents, not normalised: [B, C, F, h, w] each, one variance for all channels.
struct LatentMoments {
  at::Tensor mean, log_variance;  // log_variance [B, 1, F, h, w]

  // mean + std * noise; `noise` has the mean's shape and type.
  at::Tensor Sample(const at::Tensor& noise) const;
};

// Immutable after loading.
class VaeEncoder {
 public:
  // Reads encoder.*; errors are remembered in `weights`.
  VaeEncoder(Weights& weights, const VaeConfig& config);

  // `pixels` [B, 3, T, H, W] in -1..1, T = 8 k + 1.
  LatentMoments Encode(const Ops& ops, const at::Tensor& pixels,
                       const VaeTiling& tiling = {}) const;

 private:
  struct Stage {
    DownStage layout;
    std::vector<VaeResnet> resnets;
    VideoConv downsampler;
    VaeResnet conv_out;
  };

  static Stage TakeStage(Weights& weights, const std::string& name, const DownStage& layout,
                         double eps);
  static at::Tensor Run(const Ops& ops, const Stage& stage, at::Tensor x);

  // [B, C + 1, F, h, w]: the mean's channels, then the variance's.
  at::Tensor Whole(const Ops& ops, const at::Tensor& pixels) const;

  VaeConfig config_;
  VideoConv conv_in_, conv_out_;
  std::vector<Stage> stages_;
  std::vector<VaeResnet> mid_;
};

}  // namespace reel::model
