// SPDX-License-Identifier: Apache-2.0
// The whole way from the command line to checked options: file, flags, defaults, rules, and a look
// at the files that the options name.
#pragma once

#include <string>
#include <vector>

#include "server/front/config/default_config.h"
#include "server/front/config/flags.h"
#include "server/front/config/server_options.h"
#include "server/front/config/token_table.h"

namespace reel::front {

struct LoadedOptions {
  ServerOptions options;                 // meaningful when there are no problems
  TokenTable tokens;                     // empty without auth.tokens_file
  std::vector<std::string> prompt_keys;  // empty without fleet.encrypt_prompts_key_file
  std::string effective;                 // one line for the log
  std::vector<std::string> problems;
};

LoadedOptions LoadOptions(const Flags& flags, const Surroundings& surroundings);

}  // namespace reel::front
