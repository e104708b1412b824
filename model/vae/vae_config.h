// SPDX-License-Identifier: Apache-2.0
// The layout of a video autoencoder as its networks are built; families read theirs from
// configurations.
#pragma once

#include <cstdint>
#include <vector>

namespace reel::model {

// One stage of the encoder.
struct DownStage {
  enum class Sampler { kNone, kStridedConv, kSpaceToDepth };

  int64_t in = 0, out = 0;  // channels
  int64_t layers = 0;       // residual blocks of `in` channels, before the sampler
  Sampler sampler = Sampler::kNone;
  int64_t stride_t = 1, stride_s = 1;  // of space-to-depth
  bool has_conv_out = false;           // a last residual block from `in` to `out`
};

// One stage of the decoder.
struct UpStage {
  int64_t in = 0, out = 0;  // channels of the stage before, and of the residual blocks
  int64_t layers = 0;
  bool upsample = false;
  int64_t stride_t = 2, stride_s = 2;  // of upsampling: frames, and rows and columns, for one
  int64_t factor = 1;                  // by which upsampling also divides the channels
  bool residual = false;               // upsampling adds a rearranged copy of its input
  bool inject_noise = false;
  bool has_conv_in = false;  // a first residual block from `in` to `out`
};

// Lists already turned the decoder's way.
struct VaeConfig {
  int64_t latent_channels = 128;
  int64_t patch = 4;
  double norm_eps = 1e-6;
  double scaling_factor = 1;
  bool timestep_conditioning = false;
  int64_t encoder_in = 0;  // channels of conv_in
  std::vector<DownStage> down;
  int64_t encoder_mid = 0, encoder_mid_layers = 0;
  int64_t decoder_mid = 0, decoder_mid_layers = 0;
  bool decoder_mid_noise = false;
  bool decoder_reflects = false;  // pictures beyond their edges; else zeros
  std::vector<UpStage> up;
  int64_t decoder_out = 0;  // channels before conv_out
  int64_t spatial_compression = 32, temporal_compression = 8;
};

}  // namespace reel::model
