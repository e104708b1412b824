// SPDX-License-Identifier: Apache-2.0
// Ends that callers and time ask for, and what is deleted, in writing.
#pragma once

#include <map>
#include <set>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "server/front/jobs/job_service.h"
#include "server/front/node/node_ports.h"
#include "server/front/node/node_state.h"

namespace reel::front {

// Confined to the node's thread. What it is given outlives it.
class Wishes {
 public:
  using Key = FleetState::Key;
  Wishes(NodeState& state, const NodePorts& ports) : state_(state), ports_(ports) {}

  // Of a video that the view has. As it stood when the wish was noted.
  void Cancel(const Key& key, Answer<Video> done);
  // Of one that has ended.
  void Delete(const Key& key, absl::AnyInvocable<void(absl::Status)> done);

  // A call that its video depends on, if it is bound and so were all before it.
  void Join(const std::string& id, bool bound, bool is_new);
  // It has ended; the last one takes the video along.
  void Leave(const std::string& id, LeaveReason reason);

  // Time has passed: what is queued, or held by a silent node, ends at its deadline.
  void Tick();

 private:
  using Done = absl::AnyInvocable<void(absl::Status)>;
  // The video ends so where nobody holds it.
  void Write(const Key& key, CancelKind kind, absl::Status error, Done done);

  // It lives, and nobody has wished for its end.
  bool MayWish(const Key& key) const;

  NodeState& state_;
  const NodePorts& ports_;
  // Calls by video. One that is not here somebody wants whatever becomes of calls, or may want: a
  // process does not know who asked for it before.
  std::map<std::string, int> bound_;
  std::set<Key> expiring_;
};

}  // namespace reel::front
