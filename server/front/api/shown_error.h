// SPDX-License-Identifier: Apache-2.0
// The part of an error that a caller may see.
#pragma once

#include "absl/status/status.h"

namespace reel::front {

// An error that has a reason, as it is. A bare CANCELLED is a caller that left; anything else is
// logged and shown as INTERNAL. `status` is not OK.
absl::Status ShownToClients(const absl::Status& status);

}  // namespace reel::front
