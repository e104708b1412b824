// SPDX-License-Identifier: Apache-2.0
// The sampler's part of a step of one clip: from what its guidance takes the clean latents to be to
// the latents of the next sigma.
#pragma once

#include <optional>

#include "model/ltx2/denoise_state.h"
#include "model/ltx2/guided_calls.h"
#include "model/ltx2/res_2s.h"

namespace reel::model::ltx2 {

// Changes the state, which is borrowed, by Commit alone: a step that is dropped has changed
// nothing. `dtype`: the transformer's.
class ClipStep {
 public:
  ClipStep(DenoiseState& state, at::ScalarType dtype);

  // Which calls of the transformer the step wants first.
  ClipCall first_call() const;
  // Takes the clean latents that those calls gave. Returns the next ones, in the middle of a step
  // of res_2s, or nothing: the step can be committed.
  std::optional<ClipCall> Take(StreamTokens clean);
  void Commit();

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
  StreamTokens EulerMoved(const StreamTokens& clean) const;
  StreamTokens AncestralMoved(const StreamTokens& clean);
  ClipCall BeginSecondHalf(const StreamTokens& clean);
  StreamTokens EndSecondHalf(const StreamTokens& clean);

  DenoiseState& state_;
  const at::ScalarType dtype_;
  at::Generator step_generator_, middle_generator_;  // copies
  std::optional<Halves> halves_;
  StreamTokens moved_;
};

}  // namespace reel::model::ltx2
