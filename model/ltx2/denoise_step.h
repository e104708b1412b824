// SPDX-License-Identifier: Apache-2.0
// Moves clips and their sound along their schedules.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "model/adapting/adapter_columns.h"
#include "model/bridge/ops.h"
#include "model/ltx2/clip_step.h"
#include "model/ltx2/denoise_state.h"
#include "model/ltx2/guided_calls.h"
#include "model/ltx2/transformer_ranks.h"

namespace reel::model::ltx2 {

// One step of a clip, or of several that can share its calls (CanShareStep), each by its own
// sampler and along its own schedule. It can stop between any two blocks of the transformer: of the
// calls at the step's sigma, and by res_2s of those at its middle. It changes the states at its end
// only, so a step that throws or is dropped has changed nothing. Transformers and states are
// borrowed.
class DenoiseStep {
 public:
  // Without columns, which are borrowed too, no state has adapters.
  DenoiseStep(const TransformerRanks& ranks, DenoiseState& state, AdapterColumns* columns = nullptr)
      : DenoiseStep(ranks, std::vector<DenoiseState*>{&state}, columns) {}
  DenoiseStep(const TransformerRanks& ranks, const std::vector<DenoiseState*>& states,
              AdapterColumns* columns = nullptr);

  // Computes so many more blocks; true once the step is made.
  bool Next(const Ops& ops, size_t blocks);
  void Finish(const Ops& ops) {
    while (!Next(ops, 1)) {
    }
  }

 private:
  void EndCalls();
  at::Tensor Placed();
  at::Tensor AdaptersOf(size_t clip) const;

  const TransformerRanks ranks_;
  const std::vector<DenoiseState*> states_;
  AdapterColumns* const columns_;
  const at::Tensor adapters_;  // fp32 [states, 1, columns]; undefined: none has any
  std::vector<ClipStep> clips_;
  std::vector<size_t> called_;  // numbers of those that the calls are for
  std::optional<GuidedCalls> calls_;
  bool done_ = false;
};

}  // namespace reel::model::ltx2
