// SPDX-License-Identifier: Apache-2.0
// Creates a call's videos in the fleet: checks the call, binds it to its request id, writes the
// videos into the log and reads them back. The log has all videos of a call or none.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "server/front/node/conditions.h"
#include "server/front/node/holdings.h"
#include "server/front/node/node_ports.h"
#include "server/front/node/node_state.h"
#include "server/front/node/sources.h"
#include "server/front/node/states.h"

namespace reel::front {

// Confined to the node's thread. Arguments outlive it.
class Submission {
 public:
  Submission(NodeState& state, const NodePorts& ports, Conditions& conditions, States& states,
             const Sources& sources, Holdings& holdings)
      : state_(state),
        ports_(ports),
        conditions_(conditions),
        states_(states),
        sources_(sources),
        holdings_(holdings) {}

  // A call and what is known about it so far.
  struct Call {
    NewJob job;
    std::string spec_hash;          // of the spec as the caller sent it
    std::optional<Video> reserved;  // first video, reserved by the dispatcher: all checks passed
    absl::Status files = {};  // why its files cannot be used; ignored if its request id is known
    // Called just before `done` for each video: whether this call created it.
    absl::AnyInvocable<void(const std::string& id, bool is_new)> made;
    Answer<Jobs> done;
  };
  // One call per request id at a time (RequestTurns).
  void Create(Call call);
  // Makes all checks of Create and writes nothing.
  void Validate(NewJob job, Answer<Video> done);

 private:
  using Key = FleetState::Key;
  struct Attempt : Call {
    explicit Attempt(Call call) : Call(std::move(call)) {}
    Video video;                // the first
    bool is_new = false;        // this call has written it
    std::string reservation;    // id of the dispatcher's reservation; empty: none
    bool checked = false;       // `video` is what would be written
    bool awaited_ends = false;  // waited for cancelled videos to end
    std::optional<absl::StatusOr<WriteResult>> written;  // what became of RequestAlone
    int rounds = 0;
    uint32_t number = 1;  // of the next binding, as of the last Join
    absl::Duration end;   // deadline for the answer
  };
  using Shared = std::shared_ptr<Attempt>;
  enum class Bound { kFree, kAnswered, kWaits };

  absl::Status Takes(const NewJob& job) const;
  NewJob::FleetLoad Load(const std::string& tenant) const;
  // Reads the request id's state once and takes the next step.
  void Next(const Shared& attempt);
  // Reads the request id's state exactly once. The view moves on meanwhile; binding by a later read
  // could pass over a binding that this one did not see.
  Bound Join(const Shared& attempt);
  // Waits for the call that bound the request id to write its videos; writes them here if it was
  // lost.
  void AwaitRequest(const Shared& attempt, const Key& first);
  void Check(const Shared& attempt);
  // Stores the call's conditions before anybody can see its videos.
  void Keep(const Shared& attempt);
  // Checks that the state it continues from is intact.
  void CheckState(const Shared& attempt);
  void Bind(const Shared& attempt);
  void OnBound(const Shared& attempt, uint32_t number, const absl::StatusOr<WriteResult>& written);
  void Request(const Shared& attempt);
  // For a lone server: binding, request and claim in one write.
  void RequestAlone(const Shared& attempt, bool binds);
  std::string RequestOf(const Attempt& attempt, const std::string& caller_node) const;
  // Whether the dispatcher has the video, or it has ended.
  bool IsTakenUp(const Key& key) const;
  void OnRequested(const Shared& attempt, const absl::StatusOr<WriteResult>& written);
  void Tell(const Shared& attempt) { Tell(attempt, KeysOf(*attempt, attempt->video.id)); }
  void Tell(const Shared& attempt, const std::vector<Key>& keys);
  void Refuse(const Shared& attempt, const absl::Status& why);
  // Keys of all videos of the call, which derive from the first one's id.
  static std::vector<Key> KeysOf(const Attempt& attempt, const std::string& first);
  absl::Duration Patience(const Attempt& attempt) const;
  // The forms in which the log may have the spec's hash; first the one that this server writes.
  std::vector<std::string> SpecNames(const Attempt& attempt) const;
  bool IsOfSpec(const Attempt& attempt, const std::string& bound) const;

  // Called just before the attempt is answered.
  void Leave(const Attempt& attempt);

  NodeState& state_;
  const NodePorts& ports_;
  Conditions& conditions_;
  States& states_;
  const Sources& sources_;
  Holdings& holdings_;
  int open_ = 0;
};

}  // namespace reel::front
