// SPDX-License-Identifier: Apache-2.0
// A card with every kind of field, for tests of Resolve.
#pragma once

#include <string>

#include "model/model_card.h"

namespace reel::model {

inline ModelCard ExampleCard() {
  ModelCard card;
  card.name = "example";
  card.limits = {
      .min_size = 32, .max_size = 1536, .max_frames = 257, .max_steps = 100, .stg_blocks = 28};
  card.supports_conditions = true;
  card.defaults.width = 704;
  card.defaults.height = 480;
  card.defaults.num_frames = 97;
  card.defaults.frame_rate = 24;
  card.defaults.num_inference_steps = 40;
  card.defaults.negative_prompt = "blurry";
  card.defaults.guidance_scale = 3;
  card.defaults.guidance_rescale = 0;
  card.defaults.stg_scale = 1;
  card.defaults.stg_blocks = {14};
  card.defaults.condition_crf = 33;
  card.defaults.image_condition_noise_scale = 0.15;
  card.defaults.cache = {.threshold = 0.1, .most_reused = 3};
  card.defaults.max_text_tokens = 128;
  card.adapter_ranks = 64;
  card.adapters = {
      {.name = "grain", .sha256 = std::string(64, 'a'), .rank = 16, .max_scale = 1.5},
      {.name = "turn", .sha256 = std::string(64, 'b'), .rank = 33},
      {.name = "secret", .sha256 = std::string(64, 'c'), .rank = 8, .tenants = {"acme"}}};
  card.adapters_of_others = {{.name = "elsewhere", .sha256 = std::string(64, 'd')}};
  GenerationSpec distilled;
  distilled.timesteps = {1000, 900, 500, 100};
  distilled.guidance_scale = 1;
  card.presets.push_back({"distilled-4", distilled});
  GenerationSpec small;
  small.width = 256;
  small.height = 256;
  small.num_inference_steps = 8;
  card.presets.push_back({"small", small});
  card.presets.push_back({"twice",
                          {},
                          {{.by_strength = true, .sides = {2, 3}, .extra_rows = 1},
                           {.steps = 13, .sides = {2, 1}, .guided = false, .extra_rows = 1}}});
  return card;
}

}  // namespace reel::model
