// SPDX-License-Identifier: Apache-2.0
// The codes that stand for the latents of a test card's video: of each latent frame, which picture
// it is of and its first frame's number. So a video can hold those of another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/generation_spec.h"
#include "model/model_card.h"
#include "model/pass_state.h"
#include "model/testcard/picture_code.h"

namespace reel::model {

using ClipCodes = std::vector<PictureCode>;

// What a request's picture is drawn by: its prompt, and the sound that it brings.
std::string SubjectOf(const GenerationSpec& resolved);

// Of a resolved request by itself, whatever its passes' sizes are.
ClipCodes OwnCodes(const GenerationSpec& resolved, const ModelCard& card);

// The same of an extension or a retake, with those that it holds of `source`. FAILED_PRECONDITION:
// there are too few of them.
absl::StatusOr<ClipCodes> CodesWithHeld(const GenerationSpec& resolved, const ModelCard& card,
                                        const ClipCodes& source);

// Of one frame of the video.
PictureCode CodeOf(const ClipCodes& codes, int frame, const ModelCard& card);

// As the latents of a state, and back. FAILED_PRECONDITION: they are not a test card's.
StateTensor TensorOf(const ClipCodes& codes);
absl::StatusOr<ClipCodes> CodesOf(const PassState& state);

}  // namespace reel::model
