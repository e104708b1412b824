// SPDX-License-Identifier: Apache-2.0
// LTX-2's audio autoencoder, AutoencoderKLLTX2Audio of diffusers: latents to the spectrum of a
// sound, and back.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "model/ltx2/audio_vae_config.h"
#include "model/ltx2/audio_vae_layers.h"

namespace reel::model::ltx2 {

class AudioDecoder {
 public:
  // Reads decoder.*; errors are remembered in `weights`.
  AudioDecoder(Weights& weights, const AudioVaeConfig& config);

  // Latents [1, C, A, bins / 4] to a spectrum [1, channels, 4 A - 3, bins]. Memory is bounded:
  // `piece` latents are decoded at a time, each with as many before them as they depend on. Pieces
  // equal the whole but for the order in which a library adds.
  at::Tensor operator()(const at::Tensor& latents, int64_t piece) const;

  // Number of earlier latents that a latent's frames depend on.
  int64_t reach() const { return reach_; }

 private:
  struct Level {
    std::vector<AudioResnet> resnets;
    AudioConv upsampling;  // behind them; undefined in the last level
  };

  at::Tensor Whole(const at::Tensor& latents) const;

  AudioConv conv_in_, conv_out_;
  std::vector<AudioResnet> mid_;
  std::vector<Level> levels_;  // from the latents on
  int64_t reach_ = 0;
};

class AudioEncoder {
 public:
  // Reads encoder.*; errors are remembered in `weights`.
  AudioEncoder(Weights& weights, const AudioVaeConfig& config);

  // A spectrum [1, channels, 4 A - 3, bins] to the likeliest latents [1, C, A, bins / 4].
  at::Tensor operator()(const at::Tensor& spectrum) const;

 private:
  struct Level {
    std::vector<AudioResnet> resnets;
    AudioConv downsampling;  // behind them; undefined in the last level
  };

  AudioConv conv_in_, conv_out_;
  std::vector<Level> levels_;
  std::vector<AudioResnet> mid_;
};

// Immutable after loading.
class AudioVae {
 public:
  // Latents that are decoded at a time: a clip of 20 s is whole.
  static constexpr int64_t kPiece = 512;

  static absl::StatusOr<AudioVae> Load(const WeightSet& stored, const AudioVaeConfig& config,
                                       at::ScalarType dtype, at::Device device);

  // Tokens [1, A, config().TokenChannels()] as the transformer leaves them, fp32, to a spectrum
  // [1, channels, 4 A - 3, bins] in the model's type.
  at::Tensor Decode(const at::Tensor& tokens, int64_t piece = kPiece) const;
  // The way back, for sound that is given: raw latents.
  at::Tensor Encode(const at::Tensor& spectrum) const;
  // Raw latents [1, C, A, bins / 4] as the transformer has them, fp32.
  at::Tensor Normalize(const at::Tensor& latents) const;

  int64_t reach() const { return decoder_.reach(); }
  const AudioVaeConfig& config() const { return config_; }
  at::ScalarType dtype() const { return dtype_; }
  int64_t bytes() const { return bytes_; }
  int64_t parameters() const { return parameters_; }

 private:
  AudioVae(Weights& weights, const AudioVaeConfig& config);

  AudioVaeConfig config_;
  at::ScalarType dtype_;
  AudioDecoder decoder_;
  AudioEncoder encoder_;
  at::Tensor mean_, deviation_;  // [C bins / 4], of tokens
  int64_t bytes_ = 0;
  int64_t parameters_ = 0;
};

}  // namespace reel::model::ltx2
