// SPDX-License-Identifier: Apache-2.0
// Tokens of a clip that pictures and clips pin.
#pragma once

#include <cstdint>
#include <vector>

#include "model/bridge/ops.h"
#include "model/conditions/condition_pictures.h"
#include "model/conditions/condition_tokens.h"
#include "model/family/held_latents.h"
#include "model/ltx2/denoise_state.h"
#include "model/ltx2/ltx2_model.h"

namespace reel::model::ltx2 {

// Of the reference's pipelines: text, a first picture, or pictures and clips. They draw their noise
// in different layouts.
enum class Mode { kText, kImage, kCondition };

// INVALID_ARGUMENT: the image pipeline is asked for something other than one first picture.
absl::StatusOr<Mode> ModeOf(const GenerationSpec& spec);

// The likeliest latents: nothing is drawn. The image pipeline normalises in fp32, that for
// conditions in the autoencoder's type.
EncodedCondition EncodeCondition(const Ops& ops, const Ltx2Model& model,
                                 const PictureCondition& condition, Mode mode);

// Latent frames of a condition.
int64_t LatentFrames(const PictureCondition& condition, int64_t frames_per_latent);

// Latent frames that conditions inside a video add behind its own; a reference clip's are of
// another size.
int64_t AddedFrames(const std::vector<PictureCondition>& conditions, int64_t frames_per_latent);

// A clip before its noise.
struct PinnedClip {
  at::Tensor tokens;  // [1, S, C] fp32: of conditions where there are some, else of `base`
  at::Tensor places;  // [3, S]
  Pins pins;          // do not exist without conditions
  ReferenceAttention references;

  // With noise of `sigma` as far as tokens are free; `noise` as `tokens`.
  at::Tensor Noised(const at::Tensor& noise, double sigma) const;
};

// Conditions at the first frame, and latents of the clip's own, replace tokens of `base`, the
// video's, [1, N, C] fp32; others stand behind it, a reference clip last.
PinnedClip PinnedBy(const std::vector<EncodedCondition>& conditions,
                    const TransformerConfig& config, const LatentShape& shape, double frame_rate,
                    const at::Tensor& base);

// Sets and pins the tokens of a clip's sound that these pieces hold, to the bit. There are no pins
// without pieces.
void HoldSound(const std::vector<HeldPiece>& held, DenoiseState& state);

}  // namespace reel::model::ltx2
