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

struct DenoiseState {
  StreamTokens latents;  // [1, S, C] and [1, A, C M], fp32, normalised
  PreparedTexts texts;   // of [negative,] prompt: the negative where the guidance uses it
  PreparedTexts prompt;  // PromptOf(texts)
  StreamTables video_tables, audio_tables;
  Schedule schedule;  // of both streams
  int step = 0;
  StreamGuidance guidance;
  Sampler sampler = Sampler::kEuler;
  // Of what the sampler adds behind a step, and in its middle: tokens of pictures, then of sound.
  at::Generator step_generator = {}, middle_generator = {};

  bool is_done() const { return step == schedule.steps(); }
};

// Text to video: noise, places and texts. `texts` has a row for the negative prompt first if
// `guidance` uses it. Draws from `generator`.
DenoiseState BeginTextToVideo(const Ops& ops, const Transformer& transformer, const Texts& texts,
                              const LatentSizes& sizes, double frame_rate,
                              at::Generator& generator);

}  // namespace reel::model::ltx2
