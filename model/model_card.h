// SPDX-License-Identifier: Apache-2.0
// A model as data: everything that a process without the model needs to check a request for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/dispatch/kernel_listing.h"
#include "model/fit_plan.h"
#include "model/fixed_adapter.h"
#include "model/frame_sink.h"
#include "model/generation_spec.h"

namespace reel::model {

struct ModelLimits {
  int min_size = 32;  // pixels, each side
  int max_size = 1536;
  int min_frames = 1;
  int max_frames = 257;
  int max_steps = 100;
  int max_latent_tokens = 32768;
  double max_guidance_scale = 20;
  double max_frame_rate = 60;
  int max_text_tokens = 256;
  int stg_blocks = 0;  // that a request may name; 0: it has no such guidance
};

struct Ratio {
  int numerator = 1, denominator = 1;

  friend bool operator==(const Ratio&, const Ratio&) = default;
};

// One of the passes that denoise a video, as far as its costs go.
struct Pass {
  int steps = 0;             // 0: the request's number
  bool by_strength = false;  // the request's denoise_strength skips its first steps
  // The ratio of its sides, in latents, to those of the previous pass or the video. The remainder
  // is dropped.
  Ratio sides;
  bool guided = true;  // the request's guidance adds a row to each token
  int extra_rows = 0;  // further rows of each token, with or without guidance
  // Of a second pass that can refine a clip: 1000 times the noise of each of its steps.
  std::vector<double> timesteps = {};

  friend bool operator==(const Pass&, const Pass&) = default;
};

// A formula for a job's device memory beside the weights, used until such jobs have been measured.
// Bytes; zeros: unknown.
struct MemoryCosts {
  int64_t job = 0;                    // for each row: its texts' keys and values
  int64_t token = 0;                  // for each token: latents and tables
  int64_t step_row = 0;               // for each row during a step
  int64_t clip_pixel = 0;             // for each pixel of the clip during its decode
  int64_t decode_pixel = 0;           // for each pixel decoded at a time
  int64_t decode_pixels_at_once = 0;  // 0: the whole clip's pixels
  int64_t frame_pixel = 0;            // for each pixel of one frame during the decode
  int64_t rows_at_once = 0;           // of each token, in one call during a step; 0: all
  int64_t encode_pixel = 0;           // for each pixel of a condition while it is encoded
  int64_t upsample_token = 0;         // for each token that a latent upsampler makes

  friend bool operator==(const MemoryCosts&, const MemoryCosts&) = default;
};

// A named set of values; unset fields are not part of it.
struct Preset {
  std::string name;
  GenerationSpec values;
  std::vector<Pass> passes = {};  // of requests that name it; empty: one plain pass
};

// Words of one kind that a model's prompts consist of.
struct PromptWords {
  std::string name;
  std::vector<std::string> words;

  friend bool operator==(const PromptWords&, const PromptWords&) = default;
};

struct ModelCard {
  std::string name;    // its name in requests
  std::string family;  // e.g. "LTX-Video 0.9.5", "test card"
  // Of all files together, with the adapters; empty without a manifest.
  std::string weights_sha256;
  int64_t parameters = 0;
  int64_t weight_bytes = 0;  // in the type in memory; with a plan those that stay on the device
  int64_t host_bytes = 0;    // of weights that are held on the host
  WeightsForm weights_form = WeightsForm::k16;
  WeightsForm text_form = WeightsForm::k16;
  std::string decoder = {};    // kDiffusionDecoder; empty: the autoencoder's own
  int64_t streamed_bytes = 0;  // copied to the device in each step
  int spatial_multiple = 32;   // width and height are multiples of it
  int temporal_multiple = 8;   // frames are a multiple of it, plus one
  ModelLimits limits;
  GenerationSpec defaults;  // every optional field, except the prompt and the seed
  std::vector<Preset> presets;
  bool supports_conditions = false;
  bool takes_references = false;  // clips that adapters want
  SoundFormat sound = {};         // frame rate of its videos
  // That sounds of requests are brought to; absent: it takes none.
  SoundFormat own_sound = {};
  // Lossy kernel profiles that have an effect on this model.
  std::vector<std::string> lossy_profiles = {};
  std::vector<PromptWords> prompt_words = {};  // empty: any text is understood
  std::vector<kernels::KernelCall> calls;      // the operator calls of a request
  // Shared steps take longer on this device than the jobs' solo steps together.
  bool steps_alone = false;
  MemoryCosts memory = {};
  std::vector<FixedAdapter> fixed_adapters = {};  // that its weights were loaded with
  std::optional<FitPlan> fit = {};                // how its weights are held, where it was planned
  int adapter_ranks = 0;                          // room for those of requests
  // That requests may name; known to the server that registers them, not to the model.
  std::vector<AdapterOffer> adapters = {};
  std::vector<AdapterOffer> adapters_of_others = {};  // registered, but not for this model
};

// Positions that the transformer computes for one pass over the clip.
inline int64_t LatentTokens(const GenerationSpec& spec, const ModelCard& card) {
  const int64_t frames = (spec.num_frames - 1) / card.temporal_multiple + 1;
  return frames * (spec.height / card.spatial_multiple) * (spec.width / card.spatial_multiple);
}

}  // namespace reel::model
