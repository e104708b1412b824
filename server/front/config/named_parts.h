// SPDX-License-Identifier: Apache-2.0
// Checks that the configuration's files of models and kernels for devices exist. A worker would
// find out too, but only after the server has started.
#pragma once

#include <string>
#include <vector>

#include "server/front/config/server_options.h"

namespace reel::front {

// Problems, each with its key. `cuda_library`: where the workers' kernels for GPUs lie; empty: not
// looked at.
std::vector<std::string> MissingParts(const ServerOptions& options,
                                      const std::string& cuda_library);

}  // namespace reel::front
