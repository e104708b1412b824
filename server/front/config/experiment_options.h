// SPDX-License-Identifier: Apache-2.0
// A/B experiments of the configuration.
#pragma once

#include <string>
#include <vector>

#include "server/front/config/option_reader.h"
#include "server/front/config/server_options.h"

namespace reel::front {

// Adds what is legal but worth a look to `warnings`.
std::vector<ConfiguredExperiment> ReadExperiments(const config::v1::ServerConfig& config,
                                                  OptionReader& reader,
                                                  std::vector<std::string>& warnings);

}  // namespace reel::front
