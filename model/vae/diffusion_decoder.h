// SPDX-License-Identifier: Apache-2.0
// Latents to pictures by a small diffusion model, LTX2VideoDiffusionDecoderModel of diffusers: one
// step from noise, as a chain of frames on demand.
#pragma once

#include <vector>

#include "model/frames/frame_source.h"
#include "model/layers/timestep_embedding.h"
#include "model/vae/diffusion_decoder_config.h"
#include "model/vae/picture_noise.h"
#include "model/vae/window_block.h"
#include "model/vae/window_chain.h"

namespace reel::model {

// Immutable after loading.
class DiffusionDecoder {
 public:
  // Reads decoder.*; errors are remembered in `weights`.
  DiffusionDecoder(Weights& weights, const DiffusionDecoderConfig& config);

  const DiffusionDecoderConfig& config() const { return config_; }

  // [1, 3, T, H, W] of a clip's pictures; `latents` are the clip's sizes.
  std::vector<int64_t> NoiseSizes(const LatentShape& latents) const;
  // The type that noise is drawn in.
  at::ScalarType dtype() const { return dtype_; }

  // Pictures [1, 3, f, H, W] around -1..1 of latents [1, C, f, h, w], not normalised, in the
  // model's type. The clip has Least() latents on each axis at least, and `noise` is of its sizes.
  // While noise is drawn there are none. Frames leave in pieces; those of a piece are exact up to
  // the order of additions.
  FrameSourcePtr Decode(const Ops& ops, FrameSourcePtr latents, PictureNoise noise) const;

 private:
  struct Stage {
    WindowStage layout;
    std::vector<WindowBlock> blocks;
    Linear grow;
  };
  struct Picture {
    WindowBlock block;
    Linear from_context;
    at::Tensor table;  // [7, C]
  };

  FrameSourcePtr AddStage(FrameSourcePtr rows, const Stage& stage) const;
  // Of the one step that is made.
  std::vector<BlockModulation> Modulations(const Ops& ops) const;
  at::Tensor Pictures(const Ops& ops, const at::Tensor& rows) const;

  DiffusionDecoderConfig config_;
  at::ScalarType dtype_;
  Linear from_latents_, from_noise_, modulation_, to_pixels_;
  TimestepEmbedding time_;
  std::vector<Stage> stages_;
  std::vector<Picture> pictures_;
  at::Tensor norm_out_;  // [C]
};

}  // namespace reel::model
