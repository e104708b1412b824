// SPDX-License-Identifier: Apache-2.0
// Reads and checks the configuration of the fleet that a server is part of.
#pragma once

#include "server/front/config/option_reader.h"
#include "server/front/config/server_options.h"

namespace reel::front {

// Of a configuration that has one, with its listeners read into `out`.
void ReadFleet(const config::v1::ServerConfig& config, OptionReader& reader, ServerOptions& out);

}  // namespace reel::front
