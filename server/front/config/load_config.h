// SPDX-License-Identifier: Apache-2.0
// The whole way from the command line to a checked configuration: file, flags, defaults, rules, and
// a look at the files that it names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reel/config/v1/config.pb.h"
#include "server/front/config/default_config.h"
#include "server/front/config/token_table.h"

namespace reel::config::v1 {
class ServerConfig;
}

namespace reel::front {

// The configuration file's text to its message, and back for the log.

// Parses protobuf's text format. Returns every problem found, as "line:column: what"; an unknown
// field is one, and names the nearest known field. Empty: `config` is filled.
std::vector<std::string> ParseConfigText(std::string_view text, config::v1::ServerConfig& config);

// One line for the log. What could be a secret (user information in an address) is masked.
std::string ConfigForLog(const config::v1::ServerConfig& config);

struct LoadedConfig {
  config::v1::ServerConfig config;       // its defaults are filled; legal where problems are none
  TokenTable tokens;                     // empty without auth.tokens_file
  std::vector<std::string> prompt_keys;  // empty without fleet.encrypt_prompts_key_file
  std::string effective;                 // one line for the log
  std::vector<std::string> problems;
  std::vector<std::string> warnings;  // for the log: legal, but worth a look
};

LoadedConfig LoadConfig(const Flags& flags, const Surroundings& surroundings);

}  // namespace reel::front
