// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/denoise_state.h"

#include "model/latents/latents.h"

namespace reel::model::ltx {

at::Tensor DenoiseState::Latents() const {
  return UnpackLatents(tokens.x.slice(1, tokens.extra), shape);
}

bool CanShareStep(const DenoiseState& a, const DenoiseState& b) {
  const auto is_perturbed = [](const DenoiseState& s) { return s.guidance.uses_perturbed(); };
  return !is_perturbed(a) && !is_perturbed(b) && a.tokens.x.sizes() == b.tokens.x.sizes() &&
         a.tokens.mask.defined() == b.tokens.mask.defined() &&
         a.text.mask.bias.size(3) == b.text.mask.bias.size(3) &&
         a.tokens.coordinates.equal(b.tokens.coordinates);
}

}  // namespace reel::model::ltx
