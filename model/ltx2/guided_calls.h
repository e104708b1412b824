// SPDX-License-Identifier: Apache-2.0
// The calls of the transformer at one sigma of a clip, and what its guidance makes of them.
#pragma once

#include "model/bridge/ops.h"
#include "model/ltx2/denoise_state.h"
#include "model/ltx2/transformer.h"

namespace reel::model::ltx2 {

// Where a call stands on the way from noise.
struct NoiseLevel {
  float sigma = 0;
  float time = 0;  // as the transformer is told
};

// What the guidance takes the clean latents to be, given noisy ones of both streams, fp32. Up to
// three calls: the texts, the prompt perturbed, the prompt with its streams isolated.
StreamTokens GuidedClean(const Ops& ops, const Transformer& transformer, const DenoiseState& state,
                         const StreamTokens& latents, const NoiseLevel& level);

}  // namespace reel::model::ltx2
