// SPDX-License-Identifier: Apache-2.0
// Writes the ends of this node's claims into the log, and retries until the view shows the outcome.
// If another node has already written an end for this epoch, it claims the next epoch and ends that
// one.
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

// The log's words for why a video was released, and why it ended.
const char* TextOf(ReleaseReason why);
std::string ReasonOfEnd(const Video& video);

// Confined to the node's thread. Arguments outlive it.
class EndWriter {
 public:
  using Key = FleetState::Key;
  using Claim = std::pair<Key, uint32_t>;  // video and epoch
  struct Ending {
    Claim claim;
    FinishSaid said;
    std::string reason;  // of videos without a result
    // `counts`: whether this write ended the video. A release ends nothing.
    absl::AnyInvocable<void(bool counts)> done;
  };
  EndWriter(NodeState& state, const NodePorts& ports) : state_(state), ports_(ports) {}

  // Retries for as long as the log is unreachable or full.
  void Write(Ending ending) { Write(std::move(ending), 0); }
  // Whether the view says that this node owns this epoch of the video.
  bool IsMine(const Key& key, uint32_t epoch) const;

 private:
  void Write(Ending ending, int round);
  void OnWritten(Ending ending, int round, const absl::StatusOr<WriteResult>& written);
  // Ends a video whose record the log refuses, without that record. Any other node's record would
  // be refused as well.
  void WriteWithoutVideo(const Claim& claim);
  void ClaimNext(Ending ending, int round);
  void Tell(Ending& ending) const;

  NodeState& state_;
  const NodePorts& ports_;
};

}  // namespace reel::front
