// SPDX-License-Identifier: Apache-2.0
// A clip with sound on its way from noise to latents.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/bridge/ops.h"
#include "model/denoise/guidance.h"
#include "model/ltx2/connectors.h"
#include "model/ltx2/moves.h"
#include "model/ltx2/stream_latents.h"
#include "model/ltx2/transformer.h"
#include "model/sampler/schedule.h"

namespace reel::model::ltx2 {

// What steers a pass. A row that either stream wants is computed for both.
struct StreamGuidance {
  DeltaGuidance video, audio;
  std::vector<int64_t> perturbed_blocks = {};

  bool uses_negative() const { return video.scale > 1 || audio.scale > 1; }
  bool uses_perturbed() const {
    return !perturbed_blocks.empty() && (video.perturbed_scale > 0 || audio.perturbed_scale > 0);
  }
  bool uses_isolated() const { return video.isolated_scale > 1 || audio.isolated_scale > 1; }
};

// A scale of the sound: as the video's where it is unset or 0.
inline double AudioScale(std::optional<double> audio, double video) {
  return audio.value_or(0) == 0 ? video : *audio;
}

// Prompts as both streams take them, [negative,] prompt.
struct PreparedTexts {
  TextContext video, audio;
};
// The last row of both, which is the prompt's. A view.
PreparedTexts PromptOf(const PreparedTexts& texts);
// Of what the connectors make of the same rows.
PreparedTexts Prepare(const Ops& ops, const Transformer& transformer, const Texts& texts);

// What conditions hold of the pictures' tokens, on the way through a pass; undefined tensors
// without conditions.
struct Pins {
  at::Tensor mask;   // [1, S, 1] fp32: 1 is pinned, 0 is free
  at::Tensor clean;  // [1, S, C] fp32: what tokens are pinned to, 0 where they are free
  // How free tokens are, 1 - mask: each value once, [K, 1] fp32, and which of them a token has,
  // int32 [1, S].
  at::Tensor free, free_of;

  bool exist() const { return mask.defined(); }
  // Pinned tokens as they are pinned, by so much.
  at::Tensor Held(const at::Tensor& x) const { return exist() ? x * (1 - mask) + clean * mask : x; }
};

struct DenoiseState {
  // [1, S, C] and [1, A, C M], fp32, normalised. Behind the video's tokens stand those that
  // conditions add.
  StreamTokens latents;
  Pins pins;
  PreparedTexts texts;   // of [negative,] prompt: the negative where the guidance uses it
  PreparedTexts prompt;  // PromptOf(texts)
  StreamTables video_tables, audio_tables;
  at::Tensor places;  // [3, S] of the pictures' tokens, on the host
  Schedule schedule;  // of both streams
  int step = 0;
  StreamGuidance guidance;
  Sampler sampler = Sampler::kEuler;
  // Of what the sampler adds behind a step, and in its middle: tokens of pictures, then of sound.
  at::Generator step_generator = {}, middle_generator = {};

  bool is_done() const { return step == schedule.steps(); }
};

// Whether calls of the transformer can serve the next steps of both: as many tokens of either
// stream, the pictures' at the same places, as long texts. Steps, guidance, seeds and conditions'
// strengths may differ; what is perturbed may not, and res_2s steps alone.
bool CanShareStep(const DenoiseState& a, const DenoiseState& b);

// Places and texts of a clip whose latents are drawn. `texts` has a row for the negative prompt
// first if `guidance` uses it; `places` [3, S] are those of the pictures' tokens.
DenoiseState StateOf(const Ops& ops, const Transformer& transformer, const Texts& texts,
                     StreamTokens latents, const at::Tensor& places);
// Text to video, with noise from `generator`.
DenoiseState BeginTextToVideo(const Ops& ops, const Transformer& transformer, const Texts& texts,
                              const LatentSizes& sizes, double frame_rate,
                              at::Generator& generator);

}  // namespace reel::model::ltx2
