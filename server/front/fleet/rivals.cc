// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/rivals.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

namespace reel::front {
namespace {

constexpr size_t kLeastWindow = 64;
constexpr size_t kBits = 64;
constexpr uint32_t kNoLetter = ~0U;  // between two names

// How well a video suits a node: all nodes and builds must come to the same number. Of two that it
// suits alike the later name is the better.
using Weight = std::pair<uint32_t, std::string_view>;

// `hash` is that of the name.
Weight WeightOf(Fnv1a hash, std::string_view node, std::string_view video) {
  hash.Add(video);
  return {hash.value(), node};
}

Fnv1a HashOf(const std::string& node) {
  Fnv1a hash;
  hash.Add(node);
  hash.Add(kNoLetter);
  return hash;
}

}  // namespace

size_t WindowOf(size_t nodes) { return std::max(kLeastWindow, 2 * nodes); }

bool SuitsBest(const std::string& video, const std::string& self,
               const std::vector<std::string>& nodes) {
  const Weight own = WeightOf(HashOf(self), self, video);
  return std::all_of(nodes.begin(), nodes.end(), [&](const std::string& node) {
    return WeightOf(HashOf(node), node, video) <= own;
  });
}

Rivals::Node Rivals::Named(std::string name) {
  const Fnv1a hash = HashOf(name);
  return {std::move(name), hash};
}

Rivals::Rivals(std::string self) : self_(Named(std::move(self))) {}

void Rivals::Update(const std::map<std::string, int>& room) {
  const bool same =
      std::equal(room.begin(), room.end(), nodes_.begin(), nodes_.end(),
                 [](const auto& entry, const Node& node) { return entry.first == node.name; });
  if (!same) {
    ++generation_;
    nodes_.clear();
    for (const auto& [name, its] : room) nodes_.push_back(Named(name));
  }
  roomy_.assign((nodes_.size() + kBits - 1) / kBits, 0);
  room_ = 0;
  size_t at = 0;
  for (const auto& [name, its] : room) {
    if (its > 0) {
      roomy_[at / kBits] |= uint64_t{1} << at % kBits;
      room_ += its;
    }
    ++at;
  }
}

int Rivals::CountBetter(const std::string& video, bool only_with_room, Better& known) const {
  if (known.generation != generation_) {
    known.generation = generation_;
    known.nodes.assign(roomy_.size(), 0);
    const Weight own = WeightOf(self_.hash, self_.name, video);
    for (size_t at = 0; at < nodes_.size(); ++at) {
      if (WeightOf(nodes_[at].hash, nodes_[at].name, video) <= own) continue;
      known.nodes[at / kBits] |= uint64_t{1} << at % kBits;
    }
  }
  int better = 0;
  for (size_t word = 0; word < known.nodes.size(); ++word) {
    better += std::popcount(only_with_room ? known.nodes[word] & roomy_[word] : known.nodes[word]);
  }
  return better;
}

}  // namespace reel::front
