// SPDX-License-Identifier: Apache-2.0
// The card of the test card.
#include <utility>

#include "model/testcard/hum.h"
#include "model/testcard/test_card.h"

namespace reel::model {
namespace {

Preset Named(const char* name, int width, int height, int frames, int steps) {
  GenerationSpec values;
  values.width = width;
  values.height = height;
  values.num_frames = frames;
  values.num_inference_steps = steps;
  return {name, std::move(values)};
}

// Half as wide and high first, then two steps at the video's size.
Preset TwoPass() {
  Preset preset = Named("two-pass", 256, 192, 25, 4);
  preset.passes = {{.sides = {1, 2}},
                   {.steps = 2, .sides = {2, 1}, .guided = false, .timesteps = {900, 500}}};
  return preset;
}

}  // namespace

ModelCard TestCardModelCard(const std::string& name, const TestCardOptions& options) {
  const TestCardMemory& memory = options.memory;
  ModelCard card;
  card.name = name;
  card.family = "test card";
  card.weight_bytes = memory.weights;
  if (options.sound) card.sound = card.own_sound = kHumFormat;
  card.supports_conditions = options.pictures;
  card.memory = {.token = memory.per_token,
                 .step_row = memory.per_step_row,
                 .decode_pixel = memory.per_decoded_pixel};
  card.defaults.width = 384;
  card.defaults.height = 256;
  card.defaults.num_frames = 49;
  card.defaults.frame_rate = 24;
  card.defaults.num_inference_steps = 20;
  card.defaults.guidance_scale = 3;
  card.defaults.guidance_rescale = 0;
  // Accepted, so that a load test can send the specs of the model that it replaces.
  card.defaults.decode_timestep = 0.05;
  card.defaults.decode_noise_scale = 0.025;
  card.defaults.max_text_tokens = 128;
  card.presets = {Named("quick", 256, 160, 25, 8), Named("long", 384, 256, 121, 40),
                  Named("large", 1216, 704, 121, 40), TwoPass()};
  return card;
}

}  // namespace reel::model
