// SPDX-License-Identifier: Apache-2.0
// The form of a job's file, and the part of it that another video's file gives.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "model/generation_spec.h"
#include "model/model_card.h"
#include "server/worker/media/file_begin.h"
#include "server/worker/media/video_format.h"

namespace reel::worker {

// Of a resolved spec.
VideoFormat FormatOfFile(const model::GenerationSpec& spec, const model::ModelCard& card);

// What a joined file takes of `source`. All of the overlap but its first frame is made anew: its
// latents were decoded with nothing behind them, and now they have. FAILED_PRECONDITION: the source
// is not the file that the spec tells of, or was written with other settings.
absl::StatusOr<FileBegin> BeginOfJoined(const model::GenerationSpec& spec,
                                        const model::ModelCard& card, std::string source);

}  // namespace reel::worker
