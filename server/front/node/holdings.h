// SPDX-License-Identifier: Apache-2.0
// The videos that this node owns by the log. Starts them once its own view shows the claim, stops
// them once it no longer does, and writes their end or release into the log.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "server/front/jobs/fleet_status.h"
#include "server/front/node/deliveries.h"
#include "server/front/node/end_writer.h"
#include "server/front/node/fitness.h"
#include "server/front/node/inputs.h"
#include "server/front/node/leftovers.h"
#include "server/front/node/node_ports.h"
#include "server/front/node/node_state.h"

namespace reel::front {

// Confined to the node's thread. Arguments outlive it.
class Holdings {
 public:
  using Key = FleetState::Key;
  Holdings(NodeState& state, const NodePorts& ports, Deliveries& deliveries, Inputs& inputs,
           DiskWatch& disk, std::shared_ptr<JobListener> waker)
      : state_(state),
        ports_(ports),
        deliveries_(deliveries),
        inputs_(inputs),
        disk_(disk),
        waker_(std::move(waker)),
        ends_(state, ports) {}

  // Called before this process writes a claim. Videos that the log assigns to this node without
  // such a call were claimed by an earlier process.
  void Expect(const Key& key, uint32_t epoch) { claims_.insert({key, epoch}); }
  // Acts on a change of this video, or on the time that has passed.
  void Settle(const Key& key);
  // Settles everything that the view assigns to this node. `strangers_may_go`: whether claims of an
  // earlier process may be released.
  void SettleAll(bool strangers_may_go);

  // Finishes a video that an earlier process of this node rendered and that this node still owns.
  void Resume(Leftover leftover);
  // A job here has ended. `done` is EndJournal's.
  void End(const std::string& id, uint32_t epoch, const Video& video, uint64_t last_sequence,
           absl::AnyInvocable<void(absl::Status)> done);
  // Whether this node still renders the video, so that its state may wait for the store.
  bool Delivers(const Key& key, uint32_t epoch) const {
    return delivers_ && held_.contains(key) && IsMine(key, epoch);
  }

  // The lease has expired: stops everything, since other nodes may have taken it.
  void StopAll();
  // Releases videos that no worker has started.
  void GiveBackUnsent(ReleaseReason why);
  // Does the same, and starts nothing new.
  void StartDrain();
  // Lets nothing wait for the fleet's store any longer.
  void StopDelivering();
  // Releases the rest; a lone server leaves it to its next process.
  void FinishDrain();
  // Whether nothing is held and every write is done.
  bool idle() const { return held_.empty() && releasing_.empty(); }

  size_t size() const { return held_.size(); }
  // Released videos by reason, and videos that another node took over.
  struct Counts {
    std::array<int64_t, kReleaseReasons> releases{};
    int64_t superseded = 0;
  };
  const Counts& counts() const { return counts_; }
  // Videos that no device has started yet.
  std::vector<Key> Waiting() const;

 private:
  struct Held {
    uint32_t epoch = 0;
    std::shared_ptr<Job> job;  // null until adopted
    bool asked = false;        // adoption was requested
    bool wished = false;       // the job was told to end
    bool ending = false;
    bool delivering = false;  // ends once its result is in the fleet's store
    absl::Duration not_before = -absl::InfiniteDuration();  // not started before then
  };
  using Claim = EndWriter::Claim;
  using Done = absl::AnyInvocable<void(absl::Status)>;
  bool IsMine(const Key& key, uint32_t epoch) const { return ends_.IsMine(key, epoch); }
  void Begin(const Key& key, uint32_t epoch);
  void Adopt(const Claim& claim, AdoptedJob job);
  // The inputs have arrived from the store, or failed to.
  void OnInputs(const Claim& claim, AdoptedJob job, Inputs::Blobs blobs);
  // Ends a video that no node can render.
  void EndUnbegun(const Claim& claim, Video video, absl::Status error);
  void OnAdopted(const Key& key, uint32_t epoch, absl::StatusOr<std::shared_ptr<Job>> job);
  void TellWish(const Key& key, Held& held);
  absl::Status WhyEnds(const Key& key, bool expires) const;
  void Drop(const Key& key);
  std::vector<Key> NotEnding() const;
  void GiveBack(const std::vector<Key>& keys, ReleaseReason why);
  void Release(const Key& key, uint32_t epoch, ReleaseReason why);
  // Keeps the queue of a lone server's earlier process as it was.
  void TakeOver(const Key& key, uint32_t epoch);
  // Whether the disk of every node that could render the video has refused its result.
  bool FitsNowhere(const Key& key) const;
  bool IsDelivering(const Claim& claim) const;
  // `begun`: the epoch in which the video was rendered.
  void Deliver(const Claim& claim, const Video& video, uint32_t begun, FinishSaid said, Done done);
  // Writes an end for which this server's disk is not to blame.
  void EndJudged(const Claim& claim, const Video& video, uint64_t last_sequence, Done done);
  void WriteEnd(const Claim& claim, FinishSaid said, std::string reason, Done done);
  // Answers that the end does not count: this node no longer owns the video.
  void Withdraw(const Claim& claim, Done done);
  // Leaves what is stored to this node's next process, unless another node takes over first.
  void Leave(const Claim& claim, Done done);
  void Confirm(const Claim& claim, bool counts, Done done);

  NodeState& state_;
  const NodePorts& ports_;
  Deliveries& deliveries_;
  Inputs& inputs_;
  DiskWatch& disk_;
  const std::shared_ptr<JobListener> waker_;
  EndWriter ends_;
  std::set<Claim> claims_;
  std::map<Key, Held> held_;
  std::set<Key> releasing_;
  std::set<Key> left_;  // to the next process
  bool strangers_may_go_ = false;
  bool draining_ = false;
  bool delivers_ = true;  // false: later ends wait for the next process
  Counts counts_;
};

}  // namespace reel::front
