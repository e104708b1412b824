// SPDX-License-Identifier: Apache-2.0
// The conditions of a request as the autoencoder takes them, checked against the clip.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "model/generation_spec.h"
#include "model/ltx/conditioning.h"
#include "model/ltx/denoise_state.h"
#include "model/ltx/second_pass.h"

namespace reel::model::ltx {

// INVALID_ARGUMENT names the condition and the rule: pixels of another size than the video, outside
// the clip, or a later clip of fewer than nine frames. Pixels are scaled to the size of a pass
// where that is another than the video's.
absl::StatusOr<std::vector<PictureCondition>> ConditionsOf(const GenerationSpec& spec,
                                                           PictureSize pass, at::ScalarType dtype);

// The request without pictures and bytes, for a generation that has taken what it needs of them.
GenerationSpec WithoutPixels(GenerationSpec spec);

// Length of the text in tokens; 0 in the request is that of the reference's pipeline: 256 with
// conditions, else 128.
int TextTokensOf(const GenerationSpec& spec, Mode mode);

// Which of the reference's pipelines makes this request. Schedules that depend on the number of
// tokens cannot be conditioned by tokens: such models take one image at the beginning, fully, and
// nothing else. INVALID_ARGUMENT says so.
absl::StatusOr<Mode> ModeOf(const GenerationSpec& spec, const SchedulerConfig& scheduler);

}  // namespace reel::model::ltx
