// SPDX-License-Identifier: Apache-2.0
// The layout of AutoencoderKLLTXVideo for a configuration, of three generations.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "model/vae/vae_config.h"
#include "nlohmann/json_fwd.hpp"

namespace reel::model::ltx {

// Missing keys are those of the class, that is of 0.9.0. FAILED_PRECONDITION with `source` and key.
absl::StatusOr<VaeConfig> ReadVaeConfig(const nlohmann::json& json, const std::string& source);

}  // namespace reel::model::ltx
