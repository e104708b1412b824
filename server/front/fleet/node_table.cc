// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/node_table.h"

#include <algorithm>
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
  // What was sent meanwhile may still be on its way: everybody gets the whole time again.
  if (!connected || !was_connected || gap > longest_gap_) return Forgive();
  observed_ += gap;
  // Long forgotten ones would stay for ever; for the rest they are as those never heard.
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

}  // namespace reel::front
