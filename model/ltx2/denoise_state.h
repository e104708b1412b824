// SPDX-License-Identifier: Apache-2.0
// The state of one clip with sound while it is denoised.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/adapting/loaded_adapter.h"
#include "model/bridge/ops.h"
#include "model/denoise/guidance.h"
#include "model/ltx2/connectors.h"
#include "model/ltx2/moves.h"
#include "model/ltx2/reference_attention.h"
#include "model/ltx2/stream_latents.h"
#include "model/ltx2/transformer.h"
#include "model/sampler/schedule.h"

namespace reel::model::ltx2 {

// The guidance of a pass. A row that either stream needs is computed for both.
struct StreamGuidance {
  DeltaGuidance video, audio;
  std::vector<int64_t> perturbed_blocks = {};

  bool uses_negative() const { return video.scale > 1 || audio.scale > 1; }
  bool uses_perturbed() const {
    return !perturbed_blocks.empty() && (video.perturbed_scale > 0 || audio.perturbed_scale > 0);
  }
  bool uses_isolated() const { return video.isolated_scale > 1 || audio.isolated_scale > 1; }
};

// A scale of the sound. Unset or 0 means the video's.
inline double AudioScale(std::optional<double> audio, double video) {
  return audio.value_or(0) == 0 ? video : *audio;
}

// The texts of both streams: rows [negative,] prompt.
struct PreparedTexts {
  TextContext video, audio;
};
// The prompt's row of both, which is the last. A view.
PreparedTexts PromptOf(const PreparedTexts& texts);
// Makes them of the connectors' output.
PreparedTexts Prepare(const Ops& ops, const Transformer& transformer, const Texts& texts);

// Tokens of a stream that are pinned: of the pictures by conditions, of both by latents of another
// video. Its tensors are undefined where there are none.
struct Pins {
  at::Tensor mask;     // [1, S, 1] fp32: 1 is pinned, 0 is free
  at::Tensor clean;    // [1, S, C] fp32: the latents of pinned tokens, 0 where they are free
  at::Tensor free;     // [K, 1] fp32: the distinct values of 1 - mask
  at::Tensor free_of;  // int32 [1, S]: which of them each token has
  bool exact = false;  // they end as `clean` to the bit, whatever a sampler rounds

  bool exist() const { return mask.defined(); }
  // x with its pinned tokens set to `clean`, as far as the mask says.
  at::Tensor Held(const at::Tensor& x) const { return exist() ? x * (1 - mask) + clean * mask : x; }
};

struct DenoiseState {
  // [1, S, C] and [1, A, C M], fp32, normalised. Tokens that conditions add follow the video's own.
  StreamTokens latents;
  Pins pins, audio_pins;
  PreparedTexts texts;   // [negative,] prompt; the negative only if the guidance uses it
  PreparedTexts prompt;  // PromptOf(texts)
  StreamTables video_tables, audio_tables;
  ReferenceAttention references;  // how the pictures' tokens and those of clips see each other
  at::Tensor places;              // [3, S], of the pictures' tokens, on the host
  int64_t keyframe_tokens = 0;  // so many of the first of the pictures' are marked as a key frame's
  Schedule schedule;            // of both streams
  int step = 0;
  StreamGuidance guidance;
  AppliedAdapters adapters;
  Sampler sampler = Sampler::kEuler;
  // For the noise that a sampler adds after a step and in its middle: pictures first, then sound.
  at::Generator step_generator = {}, middle_generator = {};

  bool is_done() const { return step == schedule.steps(); }
};

// Whether the next steps of both can share calls of the transformer. They must have equally many
// tokens of each stream, pictures' tokens at the same places and marked alike, texts of one length,
// and the same perturbed blocks. Steps, scales, seeds and strengths may differ. res_2s steps alone,
// and so does a clip that sees a reference with less than all its attention.
bool CanShareStep(const DenoiseState& a, const DenoiseState& b);

// The state of a clip whose latents are drawn, without schedule and guidance. `texts` has the
// negative prompt's row first if the guidance uses it. `places` [3, S] are the pictures'.
DenoiseState StateOf(const Ops& ops, const Transformer& transformer, const Texts& texts,
                     StreamTokens latents, const at::Tensor& places);
// The same of text to video, with noise from `generator`.
DenoiseState BeginTextToVideo(const Ops& ops, const Transformer& transformer, const Texts& texts,
                              const LatentSizes& sizes, double frame_rate,
                              at::Generator& generator);

}  // namespace reel::model::ltx2
