// SPDX-License-Identifier: Apache-2.0
// Looks at the files that a configuration names: of models, of kernels for devices, of secrets and
// certificates. Whoever uses them would find out too, but only after the server has started.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace reel::config::v1 {
class ServerConfig;
}

namespace reel::front {

// Files of adapters below adapter_root.

// The real path of a file below `root`, by whatever links there are below it. INVALID_ARGUMENT: it
// leads out of the root, or is no regular file; NOT_FOUND: it is not there.
absl::StatusOr<std::string> PathBelow(const std::string& root, const std::string& file);

// Puts its real path in the place of each adapter's file; returns what is wrong with them.
std::vector<std::string> ResolveAdapters(config::v1::ServerConfig& config);

// Files of models that are missing, each with its key. `cuda_library`: where the workers' kernels
// for GPUs lie; empty: not looked at.
std::vector<std::string> MissingParts(const config::v1::ServerConfig& config,
                                      const std::string& cuda_library);

// Certificates, keys and credentials that are missing, open to others, or not what they should
// be, each with its key.
std::vector<std::string> WrongSecrets(const config::v1::ServerConfig& config);

}  // namespace reel::front
