// SPDX-License-Identifier: Apache-2.0
// Files of adapters below adapter_root.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace reel::config::v1 {
class ServerConfig;
}

namespace reel::front {

// The real path of a file below `root`, by whatever links there are below it. INVALID_ARGUMENT: it
// leads out of the root, or is no regular file; NOT_FOUND: it is not there.
absl::StatusOr<std::string> PathBelow(const std::string& root, const std::string& file);

// Puts its real path in the place of each adapter's file; returns what is wrong with them.
std::vector<std::string> ResolveAdapters(config::v1::ServerConfig& config);

}  // namespace reel::front
