// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/nearest_name.h"

#include <algorithm>

namespace reel::server {
namespace {

constexpr size_t kMaxTypedBytes = 64;  // longer ones are no typing mistake

size_t Distance(std::string_view a, std::string_view b) {
  // Three rows of the optimal-alignment table are alive: two rows back serve the swaps.
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
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

bool IsLegalName(std::string_view name) {
  if (name.empty() || name.size() > 63) return false;
  const auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return alphanumeric(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
           return alphanumeric(c) || c == '.' || c == '_' || c == '-';
         });
}

}  // namespace reel::server
