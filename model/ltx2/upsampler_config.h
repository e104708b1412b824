// SPDX-License-Identifier: Apache-2.0
// The configuration of LTX-2's latent upsamplers, LTX2LatentUpsamplerModel of diffusers.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "model/vae/latent_upsampler.h"
#include "nlohmann/json_fwd.hpp"

namespace reel::model::ltx2 {

// Of diffusers' class, or of a released file, which has other words for the resampler. Keys that
// are missing take the class's defaults. FAILED_PRECONDITION names the key that is not known or not
// supported.
absl::StatusOr<UpsamplerConfig> ReadUpsamplerConfig(const nlohmann::json& json,
                                                    const std::string& source);

}  // namespace reel::model::ltx2
