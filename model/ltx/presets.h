// SPDX-License-Identifier: Apache-2.0
// Presets: the settings that each release recommends, by name. Values of requests, and recipes that
// requests have no fields for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/denoise/guidance.h"
#include "model/model_card.h"
#include "model/vae/latent_upsampler.h"

namespace reel::model::ltx {

// Ratio of sides: of the first of two passes to the video, and of the second to the first.
inline constexpr Ratio kFirstPassSides = {2, 3}, kSecondPassSides = {2, 1};

// After the first pass, which is two thirds as wide and high as the video: its latents, upsampled,
// get noise again, and lose it at 4/3 of the video's size.
struct SecondPass {
  std::vector<double> timesteps;  // as a request's; the first are not run
  double denoise_strength = 1;    // how much of them is run
  Guidance guidance;
  UpsampleTouch touch;
};

struct Recipe {
  Guidance guidance;  // of the first pass
  std::optional<SecondPass> second_pass;
};

// What a model is, as far as presets go.
struct ModelTraits {
  std::string version;  // of the autoencoder: "0.9.0", "0.9.1", "0.9.5"
  bool is_13b = false;
  int64_t layers = 0;  // of the transformer
  bool has_upsampler = false;
};

// A folder does not say which release it is: those of all that have its parts.
std::vector<Preset> PresetsFor(const ModelTraits& traits);

// Guidance and passes of a resolved request. One pass, as diffusers makes it, unless the name of
// its preset ends in "-stg" (perturbed guidance) or "-two-pass".
Recipe RecipeOf(const GenerationSpec& resolved);

}  // namespace reel::model::ltx
