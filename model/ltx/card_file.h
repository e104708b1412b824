// SPDX-License-Identifier: Apache-2.0
// reel.json: what a model's folder may say about itself beside its weights, so that its users need
// not know it. Reel's own; other programs ignore it.
//
//   {"family": "LTX-Video demo",
//    "defaults": {"width": 256, "height": 256, "num_frames": 49, "frame_rate": 24, "steps": 20,
//                 "guidance_scale": 4, "negative_prompt": ""},
//    "limits": {"max_size": 512, "max_frames": 97, "max_text_tokens": 128}}
//
// Every key may be left out.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "model/model_card.h"

namespace reel::model::ltx {

// Puts what `folder` says over what `card` has; a folder without the file says nothing.
// Presets beyond the limits go. FAILED_PRECONDITION with file, key and rule.
absl::Status ApplyCardFile(const std::string& folder, ModelCard& card);

}  // namespace reel::model::ltx
