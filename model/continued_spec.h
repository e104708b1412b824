// SPDX-License-Identifier: Apache-2.0
// The spec of an extension or a retake: what a request leaves out is that of the video that it goes
// on from.
#pragma once

#include <vector>

#include "model/generation_spec.h"
#include "model/resolve.h"

namespace reel::model {

// `video` is resolved. Size and frame rate are the video's, and of a retake its length; the seed is
// never the video's. Another preset than the video's stands in place of its values. A joined file
// is encoded as the video is. The fields that the video does not allow are returned. `file_frames`:
// how many the video's file has; 0: as its spec says.
std::vector<FieldViolation> FillContinued(const GenerationSpec& video, GenerationSpec& request,
                                          int file_frames = 0);

}  // namespace reel::model
