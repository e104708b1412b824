// SPDX-License-Identifier: Apache-2.0
// A model as data: everything that a process without the model needs to check a request for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/dispatch/kernel_listing.h"
#include "model/generation_spec.h"

namespace reel::model {

struct ModelLimits {
  int min_size = 32;  // pixels, each side
  int max_size = 1536;
  int max_frames = 257;
  int max_steps = 100;
  int max_latent_tokens = 32768;
  double max_guidance_scale = 20;
  double max_frame_rate = 60;
  int max_text_tokens = 256;
};

// A named set of values; fields left unset are not part of it.
struct Preset {
  std::string name;
  GenerationSpec values;
};

struct ModelCard {
  std::string name;            // what requests call it
  std::string family;          // e.g. "LTX-Video 0.9.5", "test card"
  std::string weights_sha256;  // empty for models without weights
  int64_t parameters = 0;
  int spatial_multiple = 32;  // width and height are multiples of it
  int temporal_multiple = 8;  // frames are a multiple of it, plus one
  ModelLimits limits;
  GenerationSpec defaults;  // every field that requests may leave out, but the prompt and the seed
  std::vector<Preset> presets;
  bool supports_conditions = false;
  std::vector<kernels::KernelCall> calls;  // the operator calls that a request makes
};

// Positions that the transformer works on for one pass over the clip.
inline int64_t LatentTokens(const GenerationSpec& spec, const ModelCard& card) {
  const int64_t frames = (spec.num_frames - 1) / card.temporal_multiple + 1;
  return frames * (spec.height / card.spatial_multiple) * (spec.width / card.spatial_multiple);
}

}  // namespace reel::model
