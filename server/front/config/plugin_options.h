// SPDX-License-Identifier: Apache-2.0
// The plug-ins of a configuration. Only what a text can say is checked here: the folders are the
// workers' to look at.
#pragma once

#include <string>
#include <vector>

#include "kernels/dispatch/plugin_source.h"

namespace reel::config::v1 {
class ServerConfig;
}

namespace reel::front {

// Adds what is wrong to `problems`, each with its key.
std::vector<kernels::PluginSource> ReadPlugins(const config::v1::ServerConfig& config,
                                               std::vector<std::string>& problems);

}  // namespace reel::front
