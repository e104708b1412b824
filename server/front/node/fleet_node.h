// SPDX-License-Identifier: Apache-2.0
// One server's part in a fleet: everything that its thread decides. Settle runs after every event.
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

// Dependencies of a node beside its ports.
struct NodeOutside {
  const VideoSerializer& serializer;
  SharedStore store;
  DiskProbe probe;  // null: the disk counts as good
  Peers peers;
  std::shared_ptr<JobListener> waker;  // of the node's thread
};

// Confined to the node's thread. Arguments outlive it.
class FleetNode {
 public:
  using Key = FleetState::Key;
  FleetNode(const NodeOptions& options, const NodePorts& ports, const NodeOutside& outside,
            NodeShared& shared, NodePools& pools);

  // Acts on what has changed and on the time that has passed.
  void Settle();

  // Events: calls.
  void Create(Submission::Call call);
  void Validate(NewJob job, Answer<Video> done);
  // Estimates a request that continues from a video.
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
  // Drains as Dispatcher::Drain does, then releases what is left to the fleet.
  void Drain(absl::Duration propagation, absl::Duration limit, absl::AnyInvocable<void()> done);

 private:
  // Finds the files of finished jobs in this server's store, beginning with job `next`.
  void FindFiles(Jobs jobs, size_t next, Answer<Jobs> done);
  // Calls `then` once the view knows whether the video exists, or with why it cannot tell.
  void Know(const Reach& reach, const std::string& id,
            absl::AnyInvocable<void(const absl::Status&)> then);
  // Fills a request from the video that it continues from, as soon as the view knows that video.
  void FillFromSource(NewJob job, Answer<NewJob> then);
  void CancelKnown(const Reach& reach, const std::string& id, Answer<Video> done);
  void DeleteKnown(const Reach& reach, const std::string& id,
                   absl::AnyInvocable<void(absl::Status)> done);
  void TakeChanges();
  void Learn(const Key& key, const ViewChange& change);
  // Updates the video that this one continues from, which shows its continuations.
  void LearnSource(const Key& key, const ViewChange& change);
  void DeleteHere(const Key& key);
  // Counts kept states and files towards their tenants' quotas.
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
  bool cut_off_ = false;  // for longer than the lease, and logged
  bool stale_ = true;     // holdings must be checked again
  bool told_locked_ = false;
};

}  // namespace reel::front
