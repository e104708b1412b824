// SPDX-License-Identifier: Apache-2.0
// Moves clips and their sound along their schedules.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "model/bridge/ops.h"
#include "model/ltx2/clip_step.h"
#include "model/ltx2/denoise_state.h"
#include "model/ltx2/guided_calls.h"
#include "model/ltx2/transformer.h"

namespace reel::model::ltx2 {

// One step of a clip, or of several that can share its calls (CanShareStep), each by its own
// sampler and along its own schedule. It can stop between any two blocks of the transformer: of the
// calls at the step's sigma, and by res_2s of those at its middle. It changes the states at its end
// only, so a step that throws or is dropped has changed nothing. Transformer and states are
// borrowed.
class DenoiseStep {
 public:
  DenoiseStep(const Transformer& transformer, DenoiseState& state)
      : DenoiseStep(transformer, std::vector<DenoiseState*>{&state}) {}
  DenoiseStep(const Transformer& transformer, const std::vector<DenoiseState*>& states);

  // Computes so many more blocks; true once the step is made.
  bool Next(const Ops& ops, size_t blocks);
  void Finish(const Ops& ops) {
    while (!Next(ops, 1)) {
    }
  }

 private:
  void EndCalls();

  const Transformer& transformer_;
  std::vector<ClipStep> clips_;
  std::vector<size_t> called_;  // numbers of those that the calls are for
  std::optional<GuidedCalls> calls_;
  bool done_ = false;
};

}  // namespace reel::model::ltx2
