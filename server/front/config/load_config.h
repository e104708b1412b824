// SPDX-License-Identifier: Apache-2.0
// The whole way from the command line to a checked configuration: file, flags, defaults, rules, and
// a look at the files that it names.
#pragma once

#include <string>
#include <vector>

#include "reel/config/v1/config.pb.h"
#include "server/front/config/default_config.h"
#include "server/front/config/flags.h"
#include "server/front/config/token_table.h"

namespace reel::front {

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
