// SPDX-License-Identifier: Apache-2.0
// One server's part in a fleet: everything that its thread decides, in order. Settle runs after
// every event.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "server/front/node/beats.h"
#include "server/front/node/claimer.h"
#include "server/front/node/conditions.h"
#include "server/front/node/deliveries.h"
#include "server/front/node/files.h"
#include "server/front/node/fitness.h"
#include "server/front/node/fleet_clock.h"
#include "server/front/node/fleet_reads.h"
#include "server/front/node/holdings.h"
#include "server/front/node/inputs.h"
#include "server/front/node/janitor.h"
#include "server/front/node/leftovers.h"
#include "server/front/node/node_ports.h"
#include "server/front/node/node_state.h"
#include "server/front/node/sources.h"
#include "server/front/node/states.h"
#include "server/front/node/status_report.h"
#include "server/front/node/submission.h"
#include "server/front/node/view_barrier.h"
#include "server/front/node/wishes.h"

namespace reel::front {

// What a node is given beside its ports.
struct NodeOutside {
  const VideoSerializer& serializer;
  SharedStore store;
  DiskProbe probe;  // null: the disk counts as good
  Peers peers;
  std::shared_ptr<JobListener> waker;  // of the node's thread
};

// Confined to the node's thread. What it is given outlives it.
class FleetNode {
 public:
  using Key = FleetState::Key;
  FleetNode(const NodeOptions& options, const NodePorts& ports, const NodeOutside& outside,
            NodeShared& shared, NodePools& pools);

  // Does what follows from what has changed, and from the time that has passed.
  void Settle();

  // Events: calls.
  void Create(Submission::Call call);
  void Validate(NewJob job, Answer<Video> done);
  // Of a request that goes on from a video.
  void Estimate(NewJob job, Answer<CostEstimate> done);
  void Find(const Reach& reach, const std::string& id, Answer<std::shared_ptr<Job>> done);
  void List(const ListQuery& query, Answer<ListPage> done) { reads_.List(query, std::move(done)); }
  void Cancel(const Reach& reach, const std::string& id, Answer<Video> done);
  void Delete(const Reach& reach, const std::string& id,
              absl::AnyInvocable<void(absl::Status)> done);
  void Leave(const std::string& id, LeaveReason reason) { wishes_.Leave(id, reason); }
  Files& files() { return files_; }

  // Events: of this server's own jobs.
  void End(const std::string& id, uint32_t epoch, const Video& video, uint64_t last_sequence,
           absl::AnyInvocable<void(absl::Status)> done) {
    holdings_.End(id, epoch, video, last_sequence, std::move(done));
  }
  void KeepState(const std::string& id, uint32_t epoch, const Video& video,
                 std::shared_ptr<const StatePieces> state, States::Done done) {
    const Key key{video.tenant, id};
    states_.Keep(
        key, EpochOf(video.attempt), std::move(state),
        [this, key, epoch] { return holdings_.Delivers(key, epoch); }, std::move(done));
  }
  // As Dispatcher::Drain; what is left then goes back to the fleet.
  void Drain(absl::Duration propagation, absl::Duration limit, absl::AnyInvocable<void()> done);

 private:
  // The files of those that are finished may be here; from the one at `next` on.
  void FindFiles(Jobs jobs, size_t next, Answer<Jobs> done);
  // Goes on once the view knows whether there is such a video, or with why it does not.
  void Know(const Reach& reach, const std::string& id,
            absl::AnyInvocable<void(const absl::Status&)> then);
  // Likewise of the video that a request goes on from, which makes it a request of its own.
  void FillFromSource(NewJob job, Answer<NewJob> then);
  void CancelKnown(const Reach& reach, const std::string& id, Answer<Video> done);
  void DeleteKnown(const Reach& reach, const std::string& id,
                   absl::AnyInvocable<void(absl::Status)> done);
  void TakeChanges();
  void Learn(const Key& key, const ViewChange& change);
  // Whoever looks at the video that this one goes on from sees that, or no longer.
  void LearnSource(const Key& key, const ViewChange& change);
  void DeleteHere(const Key& key);
  // What is kept of states and files counts for their tenants.
  void CountStates();
  void Tick(absl::Duration now);
  void WatchLease(absl::Duration now);

  const NodePorts ports_;
  NodeShared& shared_;
  NodeState state_;
  ViewBarrier barrier_;
  ClockWatch clock_watch_;
  NameHold name_;
  Deliveries deliveries_;
  Conditions conditions_;
  States states_;
  Sources sources_;
  Inputs inputs_;
  DiskWatch disk_;
  Files files_;
  Janitor janitor_;
  Holdings holdings_;
  Leftovers leftovers_;
  Claimer claimer_;
  Submission submission_;
  Wishes wishes_;
  FleetReads reads_;
  StatusReport report_;

  std::set<Key> deleting_;  // in this server's own store
  KeptStates kept_states_;  // as the dispatcher has it
  const absl::Duration started_;
  absl::Duration ticked_, last_up_;
  int64_t ticks_ = 0;
  bool draining_ = false;
  bool cut_off_ = false;  // for longer than the lease, and told so
  bool stale_ = true;     // what is held is to be looked at anew
  bool told_locked_ = false;
};

}  // namespace reel::front
