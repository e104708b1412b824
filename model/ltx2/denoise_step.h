// SPDX-License-Identifier: Apache-2.0
// Moves a clip and its sound along their schedule.
#pragma once

#include <cstddef>
#include <optional>

#include "model/bridge/ops.h"
#include "model/ltx2/clip_step.h"
#include "model/ltx2/denoise_state.h"
#include "model/ltx2/guided_calls.h"
#include "model/ltx2/transformer.h"

namespace reel::model::ltx2 {

// One step by the state's sampler, which can stop between any two blocks of the transformer: of the
// calls at the step's sigma, and by res_2s of those at its middle. It changes the state at its end
// only, so a step that throws or is dropped has changed nothing. Transformer and state are
// borrowed.
class DenoiseStep {
 public:
  DenoiseStep(const Transformer& transformer, DenoiseState& state);

  // Computes so many more blocks; true once the step is made.
  bool Next(const Ops& ops, size_t blocks);
  void Finish(const Ops& ops) {
    while (!Next(ops, 1)) {
    }
  }

 private:
  void EndCalls();

  const Transformer& transformer_;
  ClipStep clip_;
  std::optional<GuidedCalls> calls_;
  bool done_ = false;
};

}  // namespace reel::model::ltx2
