// SPDX-License-Identifier: Apache-2.0
// The sampler's part of one clip's step. It takes the clean latents that guidance has found, and
// gives the latents of the next sigma.
#pragma once

#include <optional>

#include "model/ltx2/denoise_state.h"
#include "model/ltx2/guided_calls.h"
#include "model/ltx2/res_2s.h"

namespace reel::model::ltx2 {

// Borrows the state. Only Commit changes it, so a dropped step has changed nothing. `dtype` is the
// transformer's.
class ClipStep {
 public:
  ClipStep(DenoiseState& state, at::ScalarType dtype);

  // The first calls of the transformer that the step needs.
  ClipCall first_call() const;
  // Takes the clean latents that those calls gave. Returns further calls in the middle of a step of
  // res_2s; otherwise nothing, and the step can be committed.
  std::optional<ClipCall> Take(StreamTokens clean);
  void Commit();

 private:
  // Both streams in the middle of a step of res_2s.
  struct Halves {
    Res2sStep step;
    Res2sStream video, audio;
  };

  float Sigma(int ahead) const;
  SigmaStep ScalarStep() const;
  at::Tensor Rounded(const at::Tensor& latents) const;
  StreamTokens Rounded(const StreamTokens& latents) const;
  // With their pinned tokens set to what pins them.
  StreamTokens Held(const StreamTokens& latents) const;
  at::Tensor NoiseLike(const at::Tensor& latents, at::Generator& generator) const;
  StreamTokens EulerMoved(const StreamTokens& clean) const;
  StreamTokens AncestralMoved(const StreamTokens& clean);
  ClipCall BeginSecondHalf(const StreamTokens& clean);
  StreamTokens EndSecondHalf(const StreamTokens& clean);

  DenoiseState& state_;
  const at::ScalarType dtype_;
  at::Generator step_generator_, middle_generator_;  // copies of the state's
  std::optional<Halves> halves_;
  StreamTokens moved_;
};

}  // namespace reel::model::ltx2
