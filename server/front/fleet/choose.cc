// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/choose.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace reel::front {
namespace {

constexpr size_t kLeastWindow = 64;

// FNV-1a, then mixed: all nodes and builds must come to the same number.
uint64_t WeightOf(std::string_view node, std::string_view video) {
  uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    hash = (hash ^ 0xFF) * 0x100000001b3;  // no letter of a name
  };
  add(node);
  add(video);
  hash ^= hash >> 33;
  hash *= 0xff51afd7ed558ccd;
  hash ^= hash >> 33;
  hash *= 0xc4ceb9fe1a85ec53;
  return hash ^ hash >> 33;
}

bool IsOwn(const std::string& video, const std::string& self,
           const std::vector<std::string>& nodes) {
  const auto own = std::pair(WeightOf(self, video), std::string_view(self));
  return std::all_of(nodes.begin(), nodes.end(), [&](const std::string& node) {
    return std::pair(WeightOf(node, video), std::string_view(node)) <= own;
  });
}

}  // namespace

size_t WindowOf(size_t nodes) { return std::max(kLeastWindow, 2 * nodes); }

std::vector<std::string> ChooseClaims(const std::vector<std::string>& waiting,
                                      const std::string& self,
                                      const std::vector<std::string>& nodes, size_t room) {
  std::vector<std::string> chosen;
  std::vector<std::pair<uint64_t, std::string>> others;
  for (const std::string& video : waiting) {
    if (chosen.size() == room) return chosen;
    if (IsOwn(video, self, nodes)) {
      chosen.push_back(video);
    } else {
      others.emplace_back(WeightOf(self, video), video);
    }
  }
  std::sort(others.rbegin(), others.rend());
  for (auto& [weight, video] : others) {
    if (chosen.size() == room) break;
    chosen.push_back(std::move(video));
  }
  return chosen;
}

}  // namespace reel::front
