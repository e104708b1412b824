// SPDX-License-Identifier: Apache-2.0
// The conditions of a request as the autoencoder takes them, checked against the clip.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "model/generation_spec.h"
#include "model/ltx/denoise_state.h"
#include "model/ltx/second_pass.h"

namespace reel::model::ltx {

// Length of the text in tokens; 0 in the request is that of the reference's pipeline: 256 with
// conditions, else 128.
int TextTokensOf(const GenerationSpec& spec, Mode mode);

// Which of the reference's pipelines makes this request. Schedules that depend on the number of
// tokens cannot be conditioned by tokens: such models take one image at the beginning, fully, and
// nothing else. INVALID_ARGUMENT says so. Latents of another video are held by any model.
absl::StatusOr<Mode> ModeOf(const GenerationSpec& spec, const SchedulerConfig& scheduler);

}  // namespace reel::model::ltx
