// SPDX-License-Identifier: Apache-2.0
// Writes cancellations, expired deadlines and deletions into the log.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "server/front/jobs/job_service.h"
#include "server/front/node/node_ports.h"
#include "server/front/node/node_state.h"

namespace reel::front {

// Confined to the node's thread. Arguments outlive it.
class Wishes {
 public:
  using Key = FleetState::Key;
  Wishes(NodeState& state, const NodePorts& ports) : state_(state), ports_(ports) {}

  // Cancels a video that the view has. `done` gets it as it was when the request was noted.
  void Cancel(const Key& key, Answer<Video> done);
  // Deletes a video that has ended.
  void Delete(const Key& key, absl::AnyInvocable<void(absl::Status)> done);

  // Adds a call to a video. A video lives on without calls unless every one of them was bound to
  // it.
  void Join(const std::string& id, bool bound, bool is_new);
  // A call has ended. The last bound call cancels the video.
  void Leave(const std::string& id, LeaveReason reason);

  // Ends videos at their deadline that are queued or held by a silent node.
  void Tick();

 private:
  using Done = absl::AnyInvocable<void(absl::Status)>;
  // Writes a message about a video, and calls `done` once `noted` returns true.
  void Put(const LogSubject& subject, std::string message, std::function<bool()> noted, Done done);
  // Writes the wish. If no node holds the video, it ends with `error`.
  void Write(const Key& key, CancelKind kind, absl::Status error, Done done);

  // Whether the video is live and nobody has asked for its end yet.
  bool MayWish(const Key& key) const;

  NodeState& state_;
  const NodePorts& ports_;
  // Number of bound calls by video. A video that is not here lives on without calls; this process
  // does not know who asked for it before.
  std::map<std::string, int> bound_;
  std::set<Key> expiring_;
};

}  // namespace reel::front
