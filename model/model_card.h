// SPDX-License-Identifier: Apache-2.0
// A model as data: everything that a process without the model needs to check a request for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/dispatch/kernel_listing.h"
#include "model/frame_sink.h"
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

struct Ratio {
  int numerator = 1, denominator = 1;

  friend bool operator==(const Ratio&, const Ratio&) = default;
};

// One of the passes in which a video is denoised, as far as its costs go.
struct Pass {
  int steps = 0;             // 0: the request's
  bool by_strength = false;  // the request's denoise_strength leaves the first of its steps out
  // Of the sides, counted in latents, to those of the pass before it, or to the video's. The
  // remainder is dropped.
  Ratio sides;
  bool guided = true;  // the request's guidance adds a row to each of its tokens
  int extra_rows = 0;  // that each of its tokens has beside, with guidance or without

  friend bool operator==(const Pass&, const Pass&) = default;
};

// What a job takes of a device's memory beside the weights, as far as its sizes tell: a formula, to
// begin with, until such jobs were seen. Bytes; zeros: not known.
struct MemoryCosts {
  int64_t job = 0;                    // of each: its texts' keys and values
  int64_t token = 0;                  // of each token: latents and tables
  int64_t step_row = 0;               // of each row, while it steps
  int64_t clip_pixel = 0;             // of each pixel of the clip, while it is decoded
  int64_t decode_pixel = 0;           // of each pixel that is decoded at a time
  int64_t decode_pixels_at_once = 0;  // 0: those of the whole clip

  friend bool operator==(const MemoryCosts&, const MemoryCosts&) = default;
};

// A named set of values; fields left unset are not part of it.
struct Preset {
  std::string name;
  GenerationSpec values;
  std::vector<Pass> passes = {};  // of requests that name it; empty: one plain pass
};

// Words of one kind that a model's prompts are made of.
struct PromptWords {
  std::string name;
  std::vector<std::string> words;

  friend bool operator==(const PromptWords&, const PromptWords&) = default;
};

struct ModelCard {
  std::string name;            // what requests call it
  std::string family;          // e.g. "LTX-Video 0.9.5", "test card"
  std::string weights_sha256;  // of all files together; empty without a manifest of them
  int64_t parameters = 0;
  int64_t weight_bytes = 0;   // in the type that they are held in
  int spatial_multiple = 32;  // width and height are multiples of it
  int temporal_multiple = 8;  // frames are a multiple of it, plus one
  ModelLimits limits;
  GenerationSpec defaults;  // every field that requests may leave out, but the prompt and the seed
  std::vector<Preset> presets;
  bool supports_conditions = false;
  SoundFormat sound = {};  // of its videos
  // Kernel profiles that trade accuracy for speed and that the model has a use for.
  std::vector<std::string> lossy_profiles = {};
  std::vector<PromptWords> prompt_words = {};  // empty: any text will do
  std::vector<kernels::KernelCall> calls;      // the operator calls that a request makes
  // Steps that several jobs share take longer where it is loaded than each job's own in turn.
  bool steps_alone = false;
  MemoryCosts memory = {};
};

// Positions that the transformer works on for one pass over the clip.
inline int64_t LatentTokens(const GenerationSpec& spec, const ModelCard& card) {
  const int64_t frames = (spec.num_frames - 1) / card.temporal_multiple + 1;
  return frames * (spec.height / card.spatial_multiple) * (spec.width / card.spatial_multiple);
}

}  // namespace reel::model
