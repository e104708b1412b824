// SPDX-License-Identifier: Apache-2.0
// Latents to pictures: the decoder of the video autoencoder, as a chain of frames on demand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/bridge/ops.h"
#include "model/vae/decode_chain.h"
#include "model/vae/vae_config.h"
#include "model/vae/vae_layers.h"

namespace reel::model {

// How many latents' worth of frames go through the layers at a time. More make better use of a GPU;
// fewer take less memory, and have the first frames ready earlier.
struct DecodePieces {
  int64_t early = 1;  // up to the last doubling of the rate
  int64_t late = 1;   // from there, where most of the work and of the memory is
};

// How a clip is decoded.
struct DecodeInputs {
  DecodePieces pieces;
  double time = 0;       // 0..1, for conditioned decoders
  at::Generator& noise;  // for those that inject it
};

// Immutable after loading.
class VaeDecoder {
 public:
  // Reads decoder.*; errors are remembered in `weights`.
  VaeDecoder(Weights& weights, const VaeConfig& config);

  bool is_conditioned() const { return config_.timestep_conditioning; }

  // Frames [1, 3, f, H, W] in -1..1 of `latents` [1, C, F, h, w], not normalised, in the model's
  // type, 8 `late` at a time at most. They equal those of pieces of any other size. Noise is drawn
  // here, in the reference's order. `ops` is of this call alone. Of a rank of a group `part` says
  // which rows of the clip's its latents are, and so are its frames.
  FrameSourcePtr Decode(const Ops& ops, const at::Tensor& latents, const DecodeInputs& inputs,
                        const RowPart* part = nullptr) const;
  // Decode() for a source of latents, which may not have all of them yet. `like` has their dtype,
  // device, height and width.
  FrameSourcePtr DecodeFrom(const Ops& ops, FrameSourcePtr latents, const at::Tensor& like,
                            const DecodeInputs& inputs, const RowPart* part = nullptr) const;

 private:
  struct Stage {
    UpStage layout;
    std::optional<VaeResnet> conv_in;
    std::optional<TimestepEmbedding> time;
    std::optional<VideoConv> upsampler;
    std::vector<VaeResnet> resnets;
  };
  // What a chain is being built from.
  struct Build;

  VideoConv TakeConv(Weights& weights, const std::string& name, int64_t in, int64_t out) const;
  Stage TakeStage(Weights& weights, const std::string& name, const UpStage& layout) const;
  static at::Tensor DrawPlane(Build& build);
  static void AddResnet(Build& build, const VaeResnet& resnet, const at::Tensor& time);
  void AddStage(Build& build, const Stage& stage) const;

  VaeConfig config_;
  VideoConv conv_in_, conv_out_;
  at::Tensor time_multiplier_;    // []
  at::Tensor scale_shift_table_;  // [2, C]
  std::optional<TimestepEmbedding> time_;
  Stage mid_;
  std::vector<Stage> stages_;
};

}  // namespace reel::model
