// SPDX-License-Identifier: Apache-2.0
// Ends of this node's claims, written into the log until the view says what became of them. Where
// somebody else has written under an end's subject, which is written once, the node claims the next
// epoch and ends that one.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "server/front/fleet/log_port.h"
#include "server/front/jobs/fleet_status.h"
#include "server/front/jobs/video.h"
#include "server/front/node/node_ports.h"
#include "server/front/node/node_state.h"

namespace reel::front {

// Why a video is given back, and why it has ended, as the log has it.
const char* TextOf(ReleaseReason why);
std::string ReasonOfEnd(const Video& video);

// Confined to the node's thread. What it is given outlives it.
class EndWriter {
 public:
  using Key = FleetState::Key;
  using Claim = std::pair<Key, uint32_t>;  // with its epoch
  struct Ending {
    Claim claim;
    FinishSaid said;
    std::string reason;  // of what has no result
    // Whether it has ended, and by this. What is given back does not end.
    absl::AnyInvocable<void(bool counts)> done;
  };
  EndWriter(NodeState& state, const NodePorts& ports) : state_(state), ports_(ports) {}

  // However long the log is away or full.
  void Write(Ending ending) { Write(std::move(ending), 0); }
  // Claimed by this node, as far as the view says.
  bool IsMine(const Key& key, uint32_t epoch) const;

 private:
  void Write(Ending ending, int round);
  void OnWritten(Ending ending, int round, const absl::StatusOr<WriteResult>& written);
  // No broker takes it, and none would from the node that would render it next: it must end all the
  // same.
  void WriteWithoutVideo(const Claim& claim);
  void ClaimNext(Ending ending, int round);
  void Tell(Ending& ending) const;

  NodeState& state_;
  const NodePorts& ports_;
};

}  // namespace reel::front
