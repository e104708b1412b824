// SPDX-License-Identifier: Apache-2.0
// The layout of LTX-2.5's diffusion decoder, LTX2VideoDiffusionDecoderModel of diffusers, for
// model/vae.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "model/vae/diffusion_decoder_config.h"
#include "nlohmann/json_fwd.hpp"

namespace reel::model::ltx2 {

// Keys that are missing take the class's defaults. FAILED_PRECONDITION names the key that is not
// known or not supported.
absl::StatusOr<DiffusionDecoderConfig> ReadDiffusionDecoderConfig(const nlohmann::json& json,
                                                                  const std::string& source);

}  // namespace reel::model::ltx2
