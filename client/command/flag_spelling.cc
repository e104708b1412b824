// SPDX-License-Identifier: Apache-2.0
#include "client/command/flag_spelling.h"

#include <algorithm>

namespace reel::client {
namespace {

// Letters to insert, delete or replace.
size_t Distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

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

}  // namespace reel::client
