// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/node_table.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

namespace reel::front {

void NodeTable::Hear(NodeBeat beat) {
  const Node node = {std::make_shared<const NodeBeat>(std::move(beat)), observed_};
  if (node.beat->node == self_) own_names_[node.beat->process] = node;
  nodes_[node.beat->node] = node;
}

void NodeTable::Tick(absl::Duration now, bool connected) {
  const absl::Duration gap = now - last_tick_;
  last_tick_ = now;
  const bool was_connected = std::exchange(connected_, connected);
  // Beats sent meanwhile may still be in flight: restart everybody's silence.
  if (!connected || !was_connected || gap > longest_gap_) return Forgive();
  observed_ += gap;
  // Forgets nodes that were silent for long; they then count as never seen.
  const absl::Duration oldest = observed_ - 100 * silence_;
  std::erase_if(nodes_, [&](const auto& entry) { return entry.second.heard < oldest; });
  std::erase_if(own_names_, [&](const auto& entry) { return entry.second.heard < oldest; });
}

void NodeTable::Forgive() {
  began_ = observed_;
  for (auto& [name, node] : nodes_) {
    if (observed_ - node.heard <= silence_) node.heard = observed_;
  }
}

bool NodeTable::IsSilent(const std::string& node) const {
  if (node == self_) return false;
  const auto found = nodes_.find(node);
  const absl::Duration since =
      found == nodes_.end() ? began_ : std::max(found->second.heard, began_);
  return observed_ - since > silence_;
}

std::map<std::string, std::shared_ptr<const NodeBeat>> NodeTable::Alive() const {
  std::map<std::string, std::shared_ptr<const NodeBeat>> alive;
  for (const auto& [name, node] : nodes_) {
    if (observed_ - node.heard <= silence_) alive.emplace(name, node.beat);
  }
  return alive;
}

std::map<std::string, NodeTable::Seen> NodeTable::All() const {
  std::map<std::string, Seen> all;
  for (const auto& [name, node] : nodes_) {
    all.emplace(name, Seen{*node.beat, observed_ - node.heard, IsSilent(name)});
  }
  return all;
}

uint64_t NodeTable::newest_position() const {
  uint64_t newest = 0;
  for (const auto& [name, node] : nodes_) {
    if (observed_ - node.heard <= silence_) newest = std::max(newest, node.beat->position);
  }
  return newest;
}

std::vector<NodeTable::Namesake> NodeTable::Namesakes(uint64_t own_process) const {
  std::vector<Namesake> others;
  for (const auto& [process, node] : own_names_) {
    if (process == own_process || observed_ - node.heard > silence_) continue;
    others.push_back({process, node.beat->holds_name, node.beat->address});
  }
  return others;
}

namespace {

constexpr size_t kLeastWindow = 64;
constexpr size_t kBits = 64;
constexpr uint32_t kNoLetter = ~0U;  // separates two names

// How well a node suits a video. All nodes and builds must compute the same value; ties go to the
// later name.
using Weight = std::pair<uint32_t, std::string_view>;

// `hash`: of the node's name.
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
