// SPDX-License-Identifier: Apache-2.0
// A small picture of a clip that is not finished.
#pragma once

#include "model/frame_sink.h"
#include "model/ltx/ltx_model.h"

namespace reel::model::ltx {

// The middle of the clip: its latent frame decoded alone, so that it costs a single frame.
// `latents` [1, C, F, h, w], normalised. At most `max_side` pixels each way.
RgbImage PreviewOf(const LtxModel& model, const at::Tensor& latents, int max_side,
                   const kernels::Execution& run);

}  // namespace reel::model::ltx
