// SPDX-License-Identifier: Apache-2.0
// The nodes of a fleet as one of them sees the others, by their beats. Silence is counted on the
// observer's own clock, and only while it could have heard: what it slept through, or was cut off
// for, proves nothing of anybody.
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

// Confined to one thread. Times are of a steady clock.
class NodeTable {
 public:
  // `self` is never silent. Between two ticks there is less than `longest_gap`, or the observer was
  // paused.
  NodeTable(std::string self, absl::Duration silence, absl::Duration longest_gap)
      : self_(std::move(self)), silence_(silence), longest_gap_(longest_gap) {}

  void Hear(NodeBeat beat);
  // Time has passed. `connected`: beats could come.
  void Tick(absl::Duration now, bool connected);

  // Whether it may be taken over. One that was never heard is silent from the first tick on.
  bool IsSilent(const std::string& node) const;
  // Those that are not silent, by name; of this node what it hears of itself.
  std::map<std::string, std::shared_ptr<const NodeBeat>> Alive() const;
  // All that were heard and are not forgotten, by name.
  struct Seen {
    NodeBeat beat;
    absl::Duration since;  // its last beat, not counting time in which none could have come
    bool silent = false;
  };
  std::map<std::string, Seen> All() const;
  // The furthest that any that is not silent had read the log.
  uint64_t newest_position() const;
  // Other processes that beat under this node's name, and are not silent yet.
  struct Namesake {
    uint64_t process = 0;
    bool holds_name = false;
    std::string address;
  };
  std::vector<Namesake> Namesakes(uint64_t own_process) const;

 private:
  struct Node {
    std::shared_ptr<const NodeBeat> beat;  // shared, since who decides takes all at each tick
    absl::Duration heard;                  // in observed_
  };
  void Forgive();

  const std::string self_;
  const absl::Duration silence_, longest_gap_;
  absl::Duration observed_;  // time in which beats could have come
  absl::Duration began_;     // in observed_: since then everybody could be heard without a break
  absl::Duration last_tick_ = -absl::InfiniteDuration();
  bool connected_ = false;
  std::map<std::string, Node> nodes_;
  std::map<uint64_t, Node> own_names_;  // processes that beat as this node
};

// How much of the queue a fleet of so many nodes looks at.
size_t WindowOf(size_t nodes);

// Whether it suits `self` best of all `nodes`.
bool SuitsBest(const std::string& video, const std::string& self,
               const std::vector<std::string>& nodes);

// The nodes that might claim a waiting video instead of this one, and how many of them it suits
// better. All come to the same order of them by a hash, so that they seldom try for the same video.
// A queue is looked at with every message, and a video has hundreds of rivals. So each is hashed
// once for a video, and counting them is a few words of bits. Confined to one thread.
class Rivals {
 public:
  explicit Rivals(std::string self);

  // All others by name, with how many videos each has room for.
  void Update(const std::map<std::string, int>& room);
  // Of all of them together.
  int room() const { return room_; }

  // What is known of one video; valid for these rivals, made anew when others come or go.
  struct Better {
    std::vector<uint64_t> nodes;  // bits
    uint64_t generation = 0;
  };
  // How many the video suits better than this node: of all, or of those with room.
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
