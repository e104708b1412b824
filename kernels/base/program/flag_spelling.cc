// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/program/flag_spelling.h"

#include <algorithm>
#include <cstddef>

namespace reel {
namespace {

// Letters to insert, delete or replace.
size_t Distance(const std::string& a, const std::string& b) {
  std::vector<size_t> best(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) best[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = best[0]++;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = best[j];
      best[j] = std::min({best[j] + 1, best[j - 1] + 1, replaced});
    }
  }
  return best[b.size()];
}

}  // namespace

std::vector<std::string> WithFlagsSpelt(char separator, std::vector<std::string> arguments) {
  constexpr std::ptrdiff_t kDashes = 2;
  const char other = separator == '-' ? '_' : '-';
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    if (!argument.starts_with("--")) continue;
    const auto end = std::find(argument.begin(), argument.end(), '=');
    // A value that looks like a flag, say a prompt, is told by its blanks.
    if (std::find(argument.begin(), end, ' ') != end) continue;
    std::replace(argument.begin() + kDashes, end, other, separator);
  }
  return arguments;
}

std::string NearestFlag(const std::string& wrong, const std::vector<std::string>& known) {
  std::string nearest;
  size_t least = 3;  // more than two letters off is a guess
  for (const std::string& flag : known) {
    const size_t distance = Distance(wrong, flag);
    if (distance >= least) continue;
    least = distance;
    nearest = flag;
  }
  return nearest;
}

}  // namespace reel
