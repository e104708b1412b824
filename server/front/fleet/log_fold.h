// SPDX-License-Identifier: Apache-2.0
// The judge of the log: from a message and the records that it concerns to a verdict and what
// becomes of them. It knows no clock, no broker and no other input, so nodes that have read the
// same messages have the same records. What the broker lets through, twice or late or from an owner
// who was replaced, is void here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "server/front/fleet/subjects.h"

namespace reel::front {

enum class CancelKind { kCancelled, kExpired };
enum class FinishKind { kSucceeded, kFailed, kReleased };

// What a message says. Videos are opaque bytes here: the fold keeps them for those who act upon it.
struct OtherSaid {
  std::string id;
  std::string video = {};

  bool operator==(const OtherSaid&) const = default;
};
struct RequestSaid {
  std::string video = {};
  std::string caller_node = {};  // where its bytes are waited for; empty: nowhere
  // The other videos of the call, at most kMostOthers: known with it, or not at all.
  std::vector<OtherSaid> others = {};
};
inline constexpr size_t kMostOthers = 15;
struct ClaimSaid {
  std::string node;
  std::string address = {};
  // By the owner of the epoch before, whose end cannot be written there: it goes on with what it
  // has.
  bool goes_on = false;
};
struct FinishSaid {
  std::string node;
  FinishKind kind = FinishKind::kFailed;
  std::string video = {};
  uint64_t last_sequence = 0;
  // Of a success: where its result lies in the fleet's store; empty: with its node alone.
  std::string object = {};
  int64_t object_bytes = 0;
  std::string object_sha256 = {};  // lower-case hex
  bool no_room = false;            // of a release: the node's disk did not take the result
};
struct CancelSaid {
  CancelKind kind = CancelKind::kCancelled;
  std::string video = {};  // as it has ended where nobody holds it
};
// What has ended is to be shown no more.
struct DeleteSaid {};
// A request id stands for a video.
struct BindingSaid {
  std::string video;  // its id
  std::string spec_hash;
};
// Bytes that are no message of the log's.
struct UnreadableSaid {};

struct FoldEntry {
  uint64_t sequence = 0;  // in the stream, from 1
  LogSubject subject;     // meaningless where it is unreadable
  std::variant<UnreadableSaid, RequestSaid, ClaimSaid, FinishSaid, CancelSaid, BindingSaid,
               DeleteSaid>
      said;
};

enum class FoldVerdict {
  kCounted,
  kOld,  // at or before the position: delivered again, and no news
  // Void: the state is as before, but for its position.
  kUnreadable,
  kUnknownJob,  // nothing is known of the video, or no longer
  kKnownJob,    // its request was counted before
  kEnded,
  kWrongEpoch,   // a claim that does not follow the last one, an end of another epoch
  kNotClaimant,  // an end by a node that does not hold the epoch
  kNotHeld,      // an end of an epoch that has ended
  kWishedBefore,
  kNotEnded,  // a deletion of a video that is queued or claimed
  kBound      // a binding of a request id whose video lives, has a result, or has yet to come
};
bool IsVoid(FoldVerdict verdict);
// One word for logs and metrics, e.g. "wrong_epoch".
const char* NameOf(FoldVerdict verdict);

enum class FleetPhase { kQueued, kClaimed, kSucceeded, kFailed, kCancelled, kExpired };

struct FleetJob {
  FleetPhase phase = FleetPhase::kQueued;
  uint32_t epoch = 0;  // the last that was claimed; 0: none
  uint32_t begun = 0;  // in which its owner has begun; below the epoch: it claimed another since
  std::string owner;   // who claimed it; stays when it is released or ended
  uint64_t requested = 0;  // sequence of the request: its place in the queue
  uint32_t place = 0;      // among the videos of that request
  // It is to end. Of a claimed video that is for its owner to do, or for who takes it over.
  std::optional<CancelKind> wish;
  std::string wish_video;      // what becomes of it where it ends by the wish alone
  std::string video;           // as it was asked for; once it has ended, as its owner left it
  bool deleted = false;        // of what has ended: the video is empty, its request id is not free
  std::string caller_node;     // as its request says
  std::string address;         // of the owner
  uint64_t last_sequence = 0;  // of a success: its last entry's, in the owner's count
  std::string object;          // of a success: the key of its result; empty: the owner alone has it
  std::map<std::string, int> no_room;  // by node: how often its disk did not take the result

  bool operator==(const FleetJob&) const = default;
};
bool HasEnded(FleetPhase phase);

// What a request id stands for.
struct FleetBinding {
  uint32_t number = 0;  // how often it was bound: free again after an end without a result
  std::string video;
  std::string spec_hash;
  uint64_t sequence = 0;  // of its message

  bool operator==(const FleetBinding&) const = default;
};

// What is left of a video that has ended and that nobody can ask for any more.
struct FleetTrace {
  FleetPhase phase = FleetPhase::kFailed;
  uint64_t requested = 0;

  bool operator==(const FleetTrace&) const = default;
};

// All records of a view at once, for tests and comparisons.
struct FleetState {
  using Key = std::pair<std::string, std::string>;  // tenant, id
  uint64_t position = 0;                            // sequence of the last message
  std::map<Key, FleetJob> jobs;
  std::map<Key, FleetTrace> over;        // no job of which is known any more
  std::map<Key, FleetBinding> bindings;  // by tenant and request id

  bool operator==(const FleetState&) const = default;
};

// The records that a message concerns, before it.
struct FoldRecords {
  // Of the message's video; of a binding: of the video that its request id stands for now.
  std::optional<FleetJob> job = {};
  std::optional<FleetTrace> trace = {};      // likewise
  std::optional<FleetBinding> binding = {};  // of a binding: what its request id stands for now
};

// What a message makes of them. What is not set stays as it is.
struct FoldResult {
  FoldVerdict verdict = FoldVerdict::kUnreadable;
  std::optional<FleetJob> job = {};
  std::optional<FleetBinding> binding = {};
  // Of a request that counts: its other videos by id. One that is known already stays as it is.
  std::vector<std::pair<std::string, FleetJob>> others = {};
};

// Of a message that comes after all others.
FoldResult Judge(FoldRecords records, const FoldEntry& entry);

}  // namespace reel::front
