// SPDX-License-Identifier: Apache-2.0
// The configuration file's text to its message, and back for the log.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reel::config::v1 {
class ServerConfig;
}

namespace reel::front {

// Parses protobuf's text format. Returns every problem found, as "line:column: what"; an unknown
// field is one, and names the nearest known field. Empty: `config` is filled.
std::vector<std::string> ParseConfigText(std::string_view text, config::v1::ServerConfig& config);

// One line for the log. What could be a secret (user information in an address) is masked.
std::string ConfigForLog(const config::v1::ServerConfig& config);

}  // namespace reel::front
