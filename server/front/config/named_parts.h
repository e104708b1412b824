// SPDX-License-Identifier: Apache-2.0
// Looks at the files that a configuration names: of models, of kernels for devices, of secrets and
// certificates. Whoever uses them would find out too, but only after the server has started.
#pragma once

#include <string>
#include <vector>

namespace reel::config::v1 {
class ServerConfig;
}

namespace reel::front {

// Files of models that are missing, each with its key. `cuda_library`: where the workers' kernels
// for GPUs lie; empty: not looked at.
std::vector<std::string> MissingParts(const config::v1::ServerConfig& config,
                                      const std::string& cuda_library);

// Certificates, keys and credentials that are missing, open to others, or not what they should
// be, each with its key.
std::vector<std::string> WrongSecrets(const config::v1::ServerConfig& config);

}  // namespace reel::front
