// SPDX-License-Identifier: Apache-2.0
// From a call to videos that the fleet has: checked here, bound to its request id, written into the
// log, and read back from it. The videos of one call are known to the log together, or not at all.
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

// Confined to the node's thread. What it is given outlives it.
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

  // A call, and what is known of it so far.
  struct Call {
    NewJob job;
    std::string spec_hash;          // of the spec as it was sent
    std::optional<Video> reserved;  // the first, by the dispatcher: all checks are done
    absl::Status files = {};        // why its files do not serve, unless its request id is known
    // Just before `done`, with each video: whether it is this call's own, or was there before.
    absl::AnyInvocable<void(const std::string& id, bool is_new)> made;
    Answer<Jobs> done;
  };
  // One of a request id at a time (RequestTurns).
  void Create(Call call);
  // Every check of Create, and nothing written.
  void Validate(NewJob job, Answer<Video> done);

 private:
  using Key = FleetState::Key;
  struct Attempt {
    NewJob job;
    std::string spec_hash;
    absl::AnyInvocable<void(const std::string& id, bool is_new)> made;
    Answer<Jobs> done;
    Video video;                // the first
    bool is_new = false;        // this call has written it
    std::string reserved;       // id of the dispatcher's reservation; empty: none
    absl::Status files;         // see Call
    bool checked = false;       // `video` is what would be written
    bool awaited_ends = false;  // of videos that are being cancelled
    std::optional<absl::StatusOr<WriteResult>> written;  // what became of RequestAlone
    int rounds = 0;
    uint32_t number = 1;  // of the binding that would be next, as of the last Join
    absl::Duration end;   // by then it has its answer
  };
  using Shared = std::shared_ptr<Attempt>;
  enum class Bound { kFree, kAnswered, kWaits };

  absl::Status Takes(const NewJob& job) const;
  NewJob::FleetLoad Load(const std::string& tenant) const;
  // One look at the request id, and the next step.
  void Next(const Shared& attempt);
  // Looks at it once: the view goes on meanwhile, and whoever binds by a later look may pass a
  // binding that this one did not see.
  Bound Join(const Shared& attempt);
  // The writer of a bound request id is about to write its videos, or was lost on the way: then
  // they are written here.
  void AwaitRequest(const Shared& attempt, const Key& first);
  void Check(const Shared& attempt);
  // What it comes with is in the store before anybody hears of it.
  void Keep(const Shared& attempt);
  // What it goes on from is whole.
  void CheckState(const Shared& attempt);
  void Bind(const Shared& attempt);
  void OnBound(const Shared& attempt, uint32_t number, const absl::StatusOr<WriteResult>& written);
  void Request(const Shared& attempt);
  // All that makes it this server's, in one write.
  void RequestAlone(const Shared& attempt, bool binds);
  std::string RequestOf(const Attempt& attempt, const std::string& caller_node) const;
  // It is the dispatcher's, or has met its end.
  bool IsTakenUp(const Key& key) const;
  void OnRequested(const Shared& attempt, const absl::StatusOr<WriteResult>& written);
  void Tell(const Shared& attempt) { Tell(attempt, KeysOf(*attempt, attempt->video.id)); }
  void Tell(const Shared& attempt, const std::vector<Key>& keys);
  void Refuse(const Shared& attempt, const absl::Status& why);
  // Of all its videos, which follow from the first one's id.
  static std::vector<Key> KeysOf(const Attempt& attempt, const std::string& first);
  absl::Duration Patience(const Attempt& attempt) const;
  // As the log has the hash of its spec; as this server writes it first.
  std::vector<std::string> SpecNames(const Attempt& attempt) const;
  bool IsOfSpec(const Attempt& attempt, const std::string& bound) const;

  // It is about to be answered.
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
