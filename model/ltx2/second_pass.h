// SPDX-License-Identifier: Apache-2.0
// The second pass of a film: at the video's size, from the upsampled latents of the first.
#pragma once

#include "absl/status/status.h"
#include "model/bridge/ops.h"
#include "model/ltx2/ltx2_generation.h"
#include "model/ltx2/ltx2_model.h"

namespace reel::model::ltx2 {

// The first pass is over and the second planned: pictures are upsampled, conditions encoded at the
// new size, then both streams get noise of the first sigma again, drawn as tokens. The model has an
// upsampler. The generation changes at the end only: what fails can be tried again.
absl::Status BeginSecondPass(const Ops& ops, const Ltx2Model& model, Ltx2Generation& generation);

}  // namespace reel::model::ltx2
