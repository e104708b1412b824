// SPDX-License-Identifier: Apache-2.0
// Probes whether a disk takes bytes, by writing some.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace reel::front {

// Writes 256 KiB into a nameless file of `folder` and syncs it; waits. STORE_FULL for want of room,
// else INTERNAL.
absl::Status ProbeDisk(const std::string& folder);

}  // namespace reel::front
