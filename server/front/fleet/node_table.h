// SPDX-License-Identifier: Apache-2.0
// The nodes of a fleet as one of them sees the others, by their beats. Silence is counted on the
// observer's own clock, and only while it could have heard: what it slept through, or was cut off
// for, proves nothing of anybody.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
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

}  // namespace reel::front
