// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/program/nearest_name.h"

#include <algorithm>

namespace reel {
namespace {

constexpr size_t kMaxTypedBytes = 64;  // longer ones are no typing mistake

size_t Distance(std::string_view a, std::string_view b) {
  // Three lines of the optimal-alignment table are kept: the one before the last is for swaps.
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), line(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    line[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      line[j] = std::min({last[j] + 1, line[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        line[j] = std::min(line[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, line);
  }
  return last[b.size()];
}

}  // namespace

std::string NearestName(std::string_view typed, const std::vector<std::string>& candidates) {
  if (typed.size() > kMaxTypedBytes) return "";
  std::string best;
  size_t best_distance = std::max<size_t>(1, typed.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = Distance(typed, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace reel
