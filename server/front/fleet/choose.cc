// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/choose.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "kernels/base/fnv1a.h"

namespace reel::front {
namespace {

constexpr size_t kLeastWindow = 64;
constexpr uint32_t kNoLetter = ~0U;  // between two names

// How well a video suits a node: all nodes and builds must come to the same number. Of names that
// weigh the same the later one is the better.
using Weight = std::pair<uint32_t, std::string_view>;

Weight WeightOf(std::string_view node, std::string_view video) {
  Fnv1a hash;
  hash.Add(node);
  hash.Add(kNoLetter);
  hash.Add(video);
  return {hash.value(), node};
}

}  // namespace

size_t WindowOf(size_t nodes) { return std::max(kLeastWindow, 2 * nodes); }

bool SuitsBest(const std::string& video, const std::string& self,
               const std::vector<std::string>& nodes) {
  const Weight own = WeightOf(self, video);
  return std::all_of(nodes.begin(), nodes.end(),
                     [&](const std::string& node) { return WeightOf(node, video) <= own; });
}

size_t CountBetter(const std::string& video, const std::string& self,
                   const std::vector<std::string>& nodes) {
  const Weight own = WeightOf(self, video);
  return static_cast<size_t>(
      std::count_if(nodes.begin(), nodes.end(),
                    [&](const std::string& node) { return WeightOf(node, video) > own; }));
}

std::vector<std::string> ChooseClaims(const std::vector<std::string>& waiting,
                                      const std::string& self,
                                      const std::vector<std::string>& nodes, size_t room) {
  std::vector<std::string> chosen;
  std::vector<std::pair<Weight, std::string>> others;
  for (const std::string& video : waiting) {
    if (chosen.size() == room) return chosen;
    if (SuitsBest(video, self, nodes)) {
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
