// SPDX-License-Identifier: Apache-2.0
// The position of a request's generator as bytes, to go on with the same numbers elsewhere.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "model/bridge/aten.h"

namespace reel::model {

std::string PositionOf(const at::Generator& generator);

// Expects hostile bytes. FAILED_PRECONDITION: no generator has this position.
absl::StatusOr<at::Generator> GeneratorAt(const std::string& position);

}  // namespace reel::model
