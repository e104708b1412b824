// SPDX-License-Identifier: Apache-2.0
// A clip of any origin in place of a video's first pass: encoded, upsampled, and refined by the
// second pass, window for window.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "model/bridge/ops.h"
#include "model/frames/frame_source.h"
#include "model/generation_spec.h"
#include "model/ltx/ltx_generation.h"
#include "model/ltx/ltx_model.h"
#include "model/model_card.h"

namespace reel::model::ltx {

// Sets size, schedule and guidance of the generation, and what it refines, from a resolved request
// with decoded pixels. INVALID_ARGUMENT names what does not fit.
absl::Status PlanRefinement(const LtxModel& model, const ModelCard& card,
                            const GenerationSpec& spec, LtxGeneration& generation);

// Encodes the next piece of the clip to its likeliest latents; upsamples them behind the last one.
// True: it is done.
bool EncodeRefined(const Ops& ops, const LtxModel& model, LtxGeneration& generation);

// Begins the first window once texts and clip are encoded, or the one behind a window that is done.
// Its latents get noise, but for those that the window before has made, which are held. The
// generation changes at the end only.
void BeginWindow(const LtxModel& model, LtxGeneration& generation);

// The frame in the clip's middle alone, where it lies.
at::Tensor RefinedMiddle(const LtxGeneration& generation);

// The latents that stay for the decoder, one at a time; none while the next does not exist yet.
// Borrows its arguments.
FrameSourcePtr RefinedSource(const LtxModel& model, const LtxGeneration& generation);

}  // namespace reel::model::ltx
