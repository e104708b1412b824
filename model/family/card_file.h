// SPDX-License-Identifier: Apache-2.0
// reel.json: a model folder's own defaults, limits and words of prompts, so that users need not
// know them. Only Reel reads it.
//
//   {"family": "LTX-Video demo",
//    "defaults": {"width": 256, "height": 256, "num_frames": 49, "frame_rate": 24, "steps": 20,
//                 "guidance_scale": 4, "negative_prompt": ""},
//    "limits": {"max_size": 512, "max_frames": 97, "max_text_tokens": 128}, "presets": [],
//    "vae_tiles": {"size": 512, "stride": 448}, "vae_frame_tiles": {"size": 16, "stride": 8}}
//
// Every key may be left out. "presets" names those of the family's that are kept; without it all
// are that the limits allow. The tiles are diffusers' enable_tiling and use_framewise_decoding,
// with its defaults for what is left out in them; without them there are none.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/frames/vae_tiles.h"
#include "model/model_card.h"

namespace reel::model {

// Overrides `card` with the file of `folder`, if there is one. Presets beyond the limits are
// removed. FAILED_PRECONDITION with file, key and rule.
absl::Status ApplyCardFile(const std::string& folder, ModelCard& card);

// The tiles that its autoencoder is to run in. FAILED_PRECONDITION likewise.
absl::StatusOr<VaeTiling> ReadVaeTiling(const std::string& folder);

}  // namespace reel::model
