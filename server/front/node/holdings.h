// SPDX-License-Identifier: Apache-2.0
// The videos that are this node's by the log: begun when its own view says so, stopped when it says
// so no longer, and ended or given back in writing.
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

// Confined to the node's thread. What it is given outlives it.
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

  // This process is about to write that claim. What the log says is this node's and no claim of
  // this process, an earlier one has left.
  void Expect(const Key& key, uint32_t epoch) { claims_.insert({key, epoch}); }
  // The view of this video has changed, or time has passed.
  void Settle(const Key& key);
  // All that is this node's by the view; before it, `strangers_may_go` says whether what an earlier
  // process of this name has left may be given back.
  void SettleAll(bool strangers_may_go);

  // An earlier process of this node has rendered it, and it is still this node's.
  void Resume(Leftover leftover);
  // A job here has ended: `done` is EndJournal's.
  void End(const std::string& id, uint32_t epoch, const Video& video, uint64_t last_sequence,
           absl::AnyInvocable<void(absl::Status)> done);
  // It is rendered here, and nothing is given up yet: what it leaves may wait for the store.
  bool Delivers(const Key& key, uint32_t epoch) const {
    return delivers_ && held_.contains(key) && IsMine(key, epoch);
  }

  // The lease is over: others may have taken all of it.
  void StopAll();
  // Gives back what no worker has.
  void GiveBackUnsent(ReleaseReason why);
  // The same; nothing new is begun.
  void StartDrain();
  // Nothing waits any longer for the fleet's store.
  void StopDelivering();
  // The rest goes back, or stays for the next process of a server that is alone.
  void FinishDrain();
  // Nothing is held, and all that was to be written is.
  bool idle() const { return held_.empty() && releasing_.empty(); }

  size_t size() const { return held_.size(); }
  // Videos that were given back, by why, and those that another took over.
  struct Counts {
    std::array<int64_t, kReleaseReasons> releases{};
    int64_t superseded = 0;
  };
  const Counts& counts() const { return counts_; }
  // Not begun on a device yet.
  std::vector<Key> Waiting() const;

 private:
  struct Held {
    uint32_t epoch = 0;
    std::shared_ptr<Job> job;  // null: not adopted yet
    bool asked = false;        // to be adopted
    bool wished = false;       // it was told that its end is wished for
    bool ending = false;
    bool delivering = false;  // it ends once its result is in the fleet's store
    absl::Duration not_before = -absl::InfiniteDuration();  // it is not begun
  };
  using Claim = EndWriter::Claim;
  using Done = absl::AnyInvocable<void(absl::Status)>;
  bool IsMine(const Key& key, uint32_t epoch) const { return ends_.IsMine(key, epoch); }
  void Begin(const Key& key, uint32_t epoch);
  void Adopt(const Claim& claim, AdoptedJob job);
  // What it begins from has come from the store, or not.
  void OnInputs(const Claim& claim, AdoptedJob job, Inputs::Blobs blobs);
  // Nobody can render it.
  void EndUnbegun(const Claim& claim, Video video, absl::Status error);
  void OnAdopted(const Key& key, uint32_t epoch, absl::StatusOr<std::shared_ptr<Job>> job);
  void TellWish(const Key& key, Held& held);
  absl::Status WhyEnds(const Key& key, bool expires) const;
  void Drop(const Key& key);
  std::vector<Key> NotEnding() const;
  void GiveBack(const std::vector<Key>& keys, ReleaseReason why);
  void Release(const Key& key, uint32_t epoch, ReleaseReason why);
  // What an earlier process of a lone server had in its queue stays what it was.
  void TakeOver(const Key& key, uint32_t epoch);
  // The disk of every node that could render it has refused its result.
  bool FitsNowhere(const Key& key) const;
  bool IsDelivering(const Claim& claim) const;
  // `begun`: the epoch in which it was rendered.
  void Deliver(const Claim& claim, const Video& video, uint32_t begun, FinishSaid said, Done done);
  // The end is the video's own, not this server's disk's.
  void EndJudged(const Claim& claim, const Video& video, uint64_t last_sequence, Done done);
  void WriteEnd(const Claim& claim, FinishSaid said, std::string reason, Done done);
  // It was not to be: the end does not count.
  void Withdraw(const Claim& claim, Done done);
  // The next process of this node goes on with what is stored, if nobody takes it over before.
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
  bool delivers_ = true;  // what ends later than that waits for the next process
  Counts counts_;
};

}  // namespace reel::front
