// SPDX-License-Identifier: Apache-2.0
// Moves a clip and its sound along their schedule.
#pragma once

#include "model/bridge/ops.h"
#include "model/ltx2/denoise_state.h"
#include "model/ltx2/transformer.h"

namespace reel::model::ltx2 {

// One step by the state's sampler, in place: one call by GuidedClean, by res_2s two. A step that
// throws has changed nothing.
void Step(const Ops& ops, const Transformer& transformer, DenoiseState& state);

}  // namespace reel::model::ltx2
