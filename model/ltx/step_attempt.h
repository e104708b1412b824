// SPDX-License-Identifier: Apache-2.0
// A step of one video in progress, by the step rules of the reference's three pipelines.
#pragma once

#include <vector>

#include "model/bridge/ops.h"
#include "model/denoise/guidance.h"
#include "model/denoise/step_cache.h"
#include "model/ltx/denoise_state.h"
#include "model/ltx/transformer.h"

namespace reel::model::ltx {

// Holds what a step changes of its video until the whole step is done.
struct Attempt {
  DenoiseState& state;
  at::Tensor x;      // the tokens
  at::Tensor sigma;  // []
  StepTimes times;   // of the tokens
  at::Generator generator, other_generator;
  StepCache cache;
  at::Tensor adapters = {};  // fp32 [1, 1, columns], for this step; undefined: the step has none

  const ClipTokens& tokens() const { return state.tokens; }
  const GuidancePoint& point() const {
    return state.guidance.At(state.schedule.sigmas[static_cast<size_t>(state.step)]);
  }
  bool is_last() const { return state.step + 1 == state.schedule.steps(); }
  // Whether a later step may reuse what this one makes, where the profile allows it.
  bool is_kept() const { return cache.rules().uses_cache() && !is_last(); }
  // The rows of the request's text that this step uses.
  TextContext text() const;
};

// `adapters` as in Attempt.
Attempt BeginStep(const Ops& ops, const Transformer& transformer, DenoiseState& state,
                  const at::Tensor& adapters = {});
// Moves the tokens by the velocities of the point's rows, [point.rows(), S, C].
void EndStep(Attempt& attempt, const at::Tensor& velocities);
void Commit(Attempt& attempt);

}  // namespace reel::model::ltx
