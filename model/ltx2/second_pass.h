// SPDX-License-Identifier: Apache-2.0
// The second pass of a film: at the video's size, from the upsampled latents of the first.
#pragma once

#include "absl/status/status.h"
#include "model/bridge/ops.h"
#include "model/ltx2/ltx2_generation.h"
#include "model/ltx2/ltx2_model.h"

namespace reel::model::ltx2 {

// Begins a planned second pass once the first is over; the model has an upsampler. Upsamples the
// pictures and encodes conditions at the new size. Then both streams get noise of the pass's first
// sigma, drawn as tokens, but for the request's own sound. Adapters take the scales of the pass, in
// the texts too. The generation changes at the end only: what fails can be tried again.
absl::Status BeginSecondPass(const Ops& ops, Ltx2Model& model, Ltx2Generation& generation);

}  // namespace reel::model::ltx2
