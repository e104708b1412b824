// SPDX-License-Identifier: Apache-2.0
// Moves a clip and its sound along their schedule.
#pragma once

#include <cstddef>
#include <optional>

#include "model/bridge/ops.h"
#include "model/ltx2/denoise_state.h"
#include "model/ltx2/guided_calls.h"
#include "model/ltx2/res_2s.h"
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
  // Both streams on their way through a step of res_2s.
  struct Halves {
    Res2sStep step;
    Res2sStream video, audio;
  };

  float Sigma(int ahead) const;
  SigmaStep ScalarStep() const;
  at::Tensor Rounded(const at::Tensor& latents) const;
  at::Tensor NoiseLike(const at::Tensor& latents, at::Generator& generator) const;

  // What to do with the clean latents that the calls at one sigma gave.
  void TakeClean(const StreamTokens& clean);
  StreamTokens EulerMoved(const StreamTokens& clean) const;
  StreamTokens AncestralMoved(const StreamTokens& clean);
  void BeginSecondHalf(const StreamTokens& clean);
  StreamTokens EndSecondHalf(const StreamTokens& clean);
  void Commit(StreamTokens latents);

  const Transformer& transformer_;
  DenoiseState& state_;
  at::Generator step_generator_, middle_generator_;  // copies
  std::optional<Halves> halves_;
  std::optional<GuidedCalls> calls_;
  bool done_ = false;
};

}  // namespace reel::model::ltx2
