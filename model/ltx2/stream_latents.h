// SPDX-License-Identifier: Apache-2.0
// Latents of pictures and of sound: how many there are, their noise, and sound as a grid and as
// tokens. Pictures are packed by model/latents.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "model/bridge/aten.h"
#include "model/latents/latents.h"
#include "model/ltx2/streams.h"
#include "model/ltx2/transformer_config.h"

namespace reel::model::ltx2 {

struct LatentSizes {
  LatentShape video;
  int64_t video_channels = 0;
  int64_t audio = 0;           // latents, one after the other
  int64_t audio_channels = 0;  // of each, times
  int64_t mel_bins = 0;        // in latents
};

// How many latents the sound of so many pictures has: the nearest number, of two the even one.
// INVALID_ARGUMENT where that is none.
absl::StatusOr<int64_t> AudioLatents(const TransformerConfig& config, int64_t frames,
                                     double frame_rate);

// [B, C, A, M] to tokens [B, A, C M], and back.
at::Tensor PackAudio(const at::Tensor& grid);
at::Tensor UnpackAudio(const at::Tensor& tokens, int64_t mel_bins);

// Noise of a text-to-video request, fp32 tokens of one row: the pictures' is drawn as a grid, then
// the sound's from the same generator.
StreamTokens DrawNoise(const LatentSizes& sizes, at::Generator& generator, at::Device device);

// The same of requests with conditions: both are drawn as tokens, of the pictures so many.
StreamTokens DrawTokenNoise(const LatentSizes& sizes, int64_t video_tokens,
                            at::Generator& generator, at::Device device);

}  // namespace reel::model::ltx2
