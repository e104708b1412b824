// SPDX-License-Identifier: Apache-2.0
// The key quantization_config of a folder's configuration, held against the folder's weights.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "model/weights/scaled_layouts.h"
#include "nlohmann/json_fwd.hpp"

namespace reel::model {

// Takes `quantization_config` out of a folder's configuration. FAILED_PRECONDITION: it is that of
// another layout than the folder's weights have.
absl::Status TakeQuantisationConfig(nlohmann::json& config, const std::string& source,
                                    ScaledLayout layout);

}  // namespace reel::model
