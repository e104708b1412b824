// SPDX-License-Identifier: Apache-2.0
// The spec of an extension or a retake: what a request leaves out is that of the video that it goes
// on from.
#pragma once

#include <vector>

#include "model/generation_spec.h"
#include "model/resolve.h"

namespace reel::model {

// `video` is resolved. Size and frame rate are the video's, and of a retake its length; the seed is
// never the video's. Another preset than the video's stands in place of its values. The fields that
// the video does not allow are returned.
std::vector<FieldViolation> FillContinued(const GenerationSpec& video, GenerationSpec& request);

}  // namespace reel::model
