// SPDX-License-Identifier: Apache-2.0
// Claims videos for this node: queued ones that it has room for, and those of nodes that no longer
// send heartbeats.
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

// Confined to the node's thread. Arguments outlive it.
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

  // Called after every change and every tick.
  void Settle(absl::Duration now);
  // Number of idle devices, less the videos that are about to start.
  int idle() const { return idle_; }
  // Claims by outcome; takeovers are included in those that were won.
  struct Counts {
    int64_t won = 0, lost = 0, takeovers = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  // A claim whose write is in flight.
  struct Claiming {
    uint32_t epoch = 0;
    bool takes_over = false;
  };
  // A lone server claims everything: its dispatcher holds the whole queue.
  void ClaimAll();
  std::vector<Key> Candidates(const Means& means, size_t window);
  std::vector<Key> Orphans(const Means& means) const;
  // Whether a caller streams the video from another node, which should therefore render it.
  bool IsLeftToItsCaller(const KnownVideo& video) const;
  // Whether the video has waited, and this node has had room, for long enough that better suited
  // nodes had their chance.
  bool IsOurs(const Key& key, const KnownVideo& video, absl::Duration now);
  // The other nodes that serve the model, computed once per Settle.
  const Rivals& RivalsFor(const std::string& model);
  // Whether the dispatcher would start this video before those that wait here, because its tenant
  // has less running. It then needs no slot of its own.
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
  std::set<std::string> counted_;         // models whose rivals are up to date
};

}  // namespace reel::front
