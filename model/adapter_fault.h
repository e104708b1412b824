// SPDX-License-Identifier: Apache-2.0
// Marks errors of adapters whose files a worker cannot use, so that a job can end with the reason.
#pragma once

#include <optional>

#include "absl/status/status.h"

namespace reel::model {

enum class AdapterFault {
  kBroken,       // gone, damaged, or another file than the one that was registered
  kNotForModel,  // of another model, or of more ranks than the model has room for
};

absl::Status WithFault(absl::Status status, AdapterFault fault);
// Nullopt for other errors.
std::optional<AdapterFault> FaultOf(const absl::Status& status);

}  // namespace reel::model
