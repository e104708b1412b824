// SPDX-License-Identifier: Apache-2.0
// Claims videos for this node: waiting ones that it has room for, and those of nodes that are
// silent.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/front/fleet/node_table.h"
#include "server/front/node/fitness.h"
#include "server/front/node/holdings.h"
#include "server/front/node/means.h"
#include "server/front/node/node_ports.h"
#include "server/front/node/node_state.h"

namespace reel::front {

// Confined to the node's thread. What it is given outlives it.
class Claimer {
 public:
  using Key = FleetState::Key;
  Claimer(const NodeState& state, const NodePorts& ports, Holdings& holdings,
          const Deliveries& deliveries, const Fitness& fitness)
      : state_(state),
        ports_(ports),
        holdings_(holdings),
        deliveries_(deliveries),
        fitness_(fitness) {}

  // Something has changed, or time has passed.
  void Settle(absl::Duration now);
  // Devices that have nothing to do, but for what is about to begin.
  int idle() const { return idle_; }
  // Claims by what the view made of them; takeovers are among those that were won.
  struct Counts {
    int64_t won = 0, lost = 0, takeovers = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  // A claim that is being written.
  struct Claiming {
    uint32_t epoch = 0;
    bool takes_over = false;
  };
  // Of a server that is alone: its dispatcher has the whole queue.
  void ClaimAll();
  std::vector<Key> Candidates(const Means& means, size_t window);
  std::vector<Key> Orphans(const Means& means) const;
  // Of one whose caller waits at another node for its bytes, which only flow there.
  bool IsLeftToItsCaller(const KnownVideo& video) const;
  // Long enough there, and this node long enough with room, that who suits better has had its time.
  bool IsOurs(const Key& key, const KnownVideo& video, absl::Duration now);
  // Others that serve the model, as of this look.
  const Rivals& RivalsFor(const std::string& model);
  // Its tenant has less than one of those whose videos wait here: the dispatcher begins it before
  // them, so that it needs no place of its own.
  bool Passes(const Key& key, const std::vector<Key>& waiting) const;
  void Claim(const Key& key);
  void OnWritten(const Key& key, const absl::StatusOr<WriteResult>& written);
  void Forget();
  void Count(const std::string& owner, uint32_t epoch, const Claiming& claim);

  const NodeState& state_;
  const NodePorts& ports_;
  Holdings& holdings_;
  const Deliveries& deliveries_;
  const Fitness& fitness_;
  int idle_ = 0;
  Counts counts_;
  std::map<Key, Claiming> claiming_;
  bool had_room_ = false;
  absl::Duration room_since_;
  struct Noticed {
    absl::Duration at;  // when it could first be claimed
    Rivals::Better better;
  };
  std::map<Key, Noticed> noticed_;
  std::map<std::string, Rivals> rivals_;  // by model
  std::set<std::string> counted_;         // models whose rivals are of this look
};

}  // namespace reel::front
