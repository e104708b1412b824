// SPDX-License-Identifier: Apache-2.0
#include "client/command/flag_spelling.h"

#include <algorithm>

namespace reel::client {

std::vector<std::string> WithDashes(std::vector<std::string> arguments) {
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    if (argument.rfind("--", 0) != 0) continue;
    const auto end = std::find(argument.begin(), argument.end(), '=');
    // A value that looks like a flag, say a prompt, is told by its blanks.
    if (std::find(argument.begin(), end, ' ') != end) continue;
    std::replace(argument.begin(), end, '_', '-');
  }
  return arguments;
}

}  // namespace reel::client
