// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/program/flag_spelling.h"

#include <algorithm>
#include <cstddef>

namespace reel {

std::vector<std::string> WithFlagsSpelt(char separator, std::vector<std::string> arguments) {
  constexpr std::ptrdiff_t kDashes = 2;
  const char other = separator == '-' ? '_' : '-';
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    if (!argument.starts_with("--")) continue;
    const auto end = std::find(argument.begin(), argument.end(), '=');
    // A value that looks like a flag, such as a prompt, contains blanks.
    if (std::find(argument.begin(), end, ' ') != end) continue;
    std::replace(argument.begin() + kDashes, end, other, separator);
  }
  return arguments;
}

}  // namespace reel
