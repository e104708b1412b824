// SPDX-License-Identifier: Apache-2.0
// The other nodes of a fleet, by their heartbeats. Silence is measured by this node's clock, and
// only while it could receive beats: time that it slept or was cut off does not count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "kernels/base/fnv1a.h"
#include "server/front/fleet/log_messages.h"

namespace reel::front {

// Confined to one thread. Times are monotonic.
class NodeTable {
 public:
  // `self` is never silent. A gap between ticks above `longest_gap` means that this process was
  // paused.
  NodeTable(std::string self, absl::Duration silence, absl::Duration longest_gap)
      : self_(std::move(self)), silence_(silence), longest_gap_(longest_gap) {}

  void Hear(NodeBeat beat);
  // Called on every tick. `connected`: whether beats could arrive.
  void Tick(absl::Duration now, bool connected);

  // Whether others may take over the node's videos. A node that never sent a beat is silent from
  // the first tick on.
  bool IsSilent(const std::string& node) const;
  // Nodes that are not silent, by name; including this one, by its own beats.
  std::map<std::string, std::shared_ptr<const NodeBeat>> Alive() const;
  // All nodes seen and not forgotten, by name.
  struct Seen {
    NodeBeat beat;
    absl::Duration since;  // since its last beat, not counting time in which none could arrive
    bool silent = false;
  };
  std::map<std::string, Seen> All() const;
  // The highest log position that any live node has reported.
  uint64_t newest_position() const;
  // Other live processes that send beats under this node's name.
  struct Namesake {
    uint64_t process = 0;
    bool holds_name = false;
    std::string address;
  };
  std::vector<Namesake> Namesakes(uint64_t own_process) const;

 private:
  struct Node {
    std::shared_ptr<const NodeBeat> beat;  // shared: Alive returns all of them at each tick
    absl::Duration heard;                  // in observed_
  };
  void Forgive();

  const std::string self_;
  const absl::Duration silence_, longest_gap_;
  absl::Duration observed_;  // time in which beats could arrive
  absl::Duration began_;     // in observed_: since then everybody could be heard without a break
  absl::Duration last_tick_ = -absl::InfiniteDuration();
  bool connected_ = false;
  std::map<std::string, Node> nodes_;
  std::map<uint64_t, Node> own_names_;  // processes that send beats as this node
};

// How many videos of the queue's head a fleet of `nodes` nodes considers.
size_t WindowOf(size_t nodes);

// Whether the video suits `self` best of all `nodes`.
bool SuitsBest(const std::string& video, const std::string& self,
               const std::vector<std::string>& nodes);

// The nodes that might claim a waiting video instead of this one, and how many of them suit it
// better. A hash gives all nodes the same order, so that they seldom race for a video. The queue is
// examined with every message and a video has hundreds of rivals, so each is hashed once per video
// and counted by bits. Confined to one thread.
class Rivals {
 public:
  explicit Rivals(std::string self);

  // Sets all other nodes, with how many videos each has room for.
  void Update(const std::map<std::string, int>& room);
  // Total room of all of them.
  int room() const { return room_; }

  // Cached order for one video; recomputed when rivals come or go.
  struct Better {
    std::vector<uint64_t> nodes;  // bits
    uint64_t generation = 0;
  };
  // Number of rivals that suit the video better than this node; optionally of those with room only.
  int CountBetter(const std::string& video, bool only_with_room, Better& known) const;

 private:
  struct Node {
    std::string name;
    Fnv1a hash;
  };
  static Node Named(std::string name);

  const Node self_;
  std::vector<Node> nodes_;      // by name
  std::vector<uint64_t> roomy_;  // bits
  int room_ = 0;
  uint64_t generation_ = 1;
};

}  // namespace reel::front
