// SPDX-License-Identifier: Apache-2.0
// Defaults and presets of the releases, and the guidance and sampler that a resolved request asks
// for.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/ltx2/denoise_state.h"
#include "model/ltx2/transformer_config.h"
#include "model/model_card.h"

namespace reel::model::ltx2 {

// What a model is, as far as defaults and presets go.
struct ModelTraits {
  Version version = Version::k2_3;
  bool is_distilled = false;
  bool perturbs = true;  // has guidance away from perturbed blocks
  int64_t layers = 0;    // of the transformer
  // What the latent upsampler makes of a side; unset without one.
  std::optional<Ratio> upsampled = {};
};

// Those of diffusers' call. A distilled model has no guidance: its values stay unset, so that a
// request for it is refused by name.
GenerationSpec DefaultsFor(const ModelTraits& traits);

// In one pass, and for distilled models with an upsampler in two: at a part of the sides, then at
// the video's own.
std::vector<Preset> PresetsFor(const ModelTraits& traits);

StreamGuidance GuidanceOf(const GenerationSpec& resolved);
// Of the first pass: Euler unless the preset says another.
Sampler SamplerOf(const GenerationSpec& resolved);
// Whether texts begin with <bos> and the film's first latent frame is marked as a key frame.
// Presets of 2.5 ask for it, as Lightricks' own programs do. diffusers' calls and requests without
// a preset do not.
bool MarksBeginnings(const GenerationSpec& resolved);
// A second pass is Euler's, without guidance, from these timesteps on; empty: there is none.
std::vector<double> SecondPassOf(const GenerationSpec& resolved);

}  // namespace reel::model::ltx2
