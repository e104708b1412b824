// SPDX-License-Identifier: Apache-2.0
// A clip on its way from noise to latents.
#pragma once

#include <cstdint>
#include <vector>

#include "model/adapting/loaded_adapter.h"
#include "model/bridge/ops.h"
#include "model/conditions/condition_tokens.h"
#include "model/denoise/guidance.h"
#include "model/denoise/step_cache.h"
#include "model/denoise/step_kernels.h"
#include "model/denoise/time_table.h"
#include "model/ltx/rank_share.h"
#include "model/ltx/rope.h"
#include "model/ltx/transformer.h"
#include "model/sampler/schedule.h"

namespace reel::model::ltx {

// Which of the reference's pipelines a request is.
enum class Mode {
  kText,       // LTXPipeline
  kImage,      // LTXImageToVideoPipeline: the first latent frame is the image, and stays
  kCondition,  // LTXConditionPipeline: pictures and clips anywhere, with strengths
};

struct DenoiseState {
  Mode mode = Mode::kText;
  LatentShape shape;
  ClipTokens tokens;
  // The texts of [negative,] prompt [, prompt]: all that any step of the request uses.
  TextContext text;
  bool text_has_negative = false;
  RopeTable rope;
  Schedule schedule;
  int first_step = 0;  // of the schedule
  int step = 0;        // of the schedule
  TimeTable times;     // of the steps to come
  Guidance guidance;
  AppliedAdapters adapters;
  StepCache cache;                // of the latest full step, under the profile "cache"
  std::vector<RankShare> shares;  // of the ranks of a group, once it has stepped there
  double condition_noise = 0;     // on fully pinned tokens while the video is noisy
  bool stochastic = false;
  at::Generator generator;        // the request's own, in the reference's order of draws
  at::Generator other_generator;  // for what the reference draws from its global one

  PassSteps pass() const { return {step - first_step, schedule.steps() - first_step}; }
  // Normalised latents of the video, [1, C, F, h, w] fp32.
  at::Tensor Latents() const;
};

// Whether one call of the transformer can serve the next steps of both: as many tokens at the same
// places, as long texts, nothing perturbed. Steps, guidance and seeds may differ.
bool CanShareStep(const DenoiseState& a, const DenoiseState& b);

}  // namespace reel::model::ltx
