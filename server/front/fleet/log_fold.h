// SPDX-License-Identifier: Apache-2.0
// Judges a log message: takes it and the records that it concerns, returns a verdict and the new
// records. It uses no clock, broker or other input, so nodes that have read the same messages have
// the same records. Duplicate, late and superseded messages that the broker let through are void.
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

// Content of a message. Videos are opaque bytes to the fold.
struct OtherSaid {
  std::string id;
  std::string video = {};

  bool operator==(const OtherSaid&) const = default;
};
struct RequestSaid {
  std::string video = {};
  std::string caller_node = {};  // node whose caller waits for the bytes; may be empty
  // The other videos of the call, at most kMostOthers; they count together with this one.
  std::vector<OtherSaid> others = {};
};
inline constexpr size_t kMostOthers = 15;
struct ClaimSaid {
  std::string node;
  std::string address = {};
  // Set by the previous epoch's owner if it could not write its end there: it keeps what it has.
  bool goes_on = false;
};
struct FinishSaid {
  std::string node;
  FinishKind kind = FinishKind::kFailed;
  std::string video = {};
  uint64_t last_sequence = 0;
  // For a success: key of the result in the fleet's store; empty if only the node has it.
  std::string object = {};
  int64_t object_bytes = 0;
  std::string object_sha256 = {};  // lower-case hex
  bool no_room = false;            // of a release: the node's disk did not take the result
};
struct CancelSaid {
  CancelKind kind = CancelKind::kCancelled;
  std::string video = {};  // the final record, if no node holds the video
};
// Hides a video that has ended.
struct DeleteSaid {};
// Binds a request id to a video.
struct BindingSaid {
  std::string video;  // id
  std::string spec_hash;
};
// Bytes that are not a message of the log.
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
  kOld,  // at or before the position: a redelivery
  // Void: only the position changes.
  kUnreadable,
  kUnknownJob,  // the video is not known, or no longer
  kKnownJob,    // its request was counted before
  kEnded,
  kWrongEpoch,   // a claim that does not follow the last one, an end of another epoch
  kNotClaimant,  // an end by a node that does not own the epoch
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
  uint32_t epoch = 0;  // the last claimed one; 0 if none
  // In which its owner started it; below `epoch` if the owner has claimed again since.
  uint32_t begun = 0;
  std::string owner;       // who claimed it; stays when it is released or ended
  uint64_t requested = 0;  // sequence of the request, which orders the queue
  uint32_t place = 0;      // among the videos of that request
  // The video is to end. The owner of a claimed video ends it, or whichever node takes it over.
  std::optional<CancelKind> wish;
  std::string wish_video;      // what becomes of it where it ends by the wish alone
  std::string video;           // as it was asked for; once it has ended, as its owner left it
  bool deleted = false;        // of what has ended: the video is empty, its request id is not free
  std::string caller_node;     // as its request says
  std::string address;         // of the owner
  uint64_t last_sequence = 0;  // for a success: of its last entry, in the owner's numbering
  std::string object;          // of a success: the key of its result; empty: the owner alone has it
  std::map<std::string, int> no_room;  // by node: how often its disk refused the result

  bool operator==(const FleetJob&) const = default;
};
bool HasEnded(FleetPhase phase);

// The video that a request id is bound to.
struct FleetBinding {
  uint32_t number = 0;  // how often the id was bound; an end without a result frees it
  std::string video;
  std::string spec_hash;
  uint64_t sequence = 0;  // of its message

  bool operator==(const FleetBinding&) const = default;
};

// Remains of an ended video that no call can reach any more.
struct FleetTrace {
  FleetPhase phase = FleetPhase::kFailed;
  uint64_t requested = 0;

  bool operator==(const FleetTrace&) const = default;
};

// All records of a view, for tests and comparisons.
struct FleetState {
  using Key = std::pair<std::string, std::string>;  // tenant, id
  uint64_t position = 0;                            // sequence of the last message
  std::map<Key, FleetJob> jobs;
  std::map<Key, FleetTrace> over;        // no job of which is known any more
  std::map<Key, FleetBinding> bindings;  // by tenant and request id

  bool operator==(const FleetState&) const = default;
};

// The records that a message concerns, before the message.
struct FoldRecords {
  // Record of the message's video; for a binding, of the video that its request id is bound to now.
  std::optional<FleetJob> job = {};
  std::optional<FleetTrace> trace = {};      // likewise
  std::optional<FleetBinding> binding = {};  // for a binding: the current one of its request id
};

// The records after the message. Unset ones are unchanged.
struct FoldResult {
  FoldVerdict verdict = FoldVerdict::kUnreadable;
  std::optional<FleetJob> job = {};
  std::optional<FleetBinding> binding = {};
  // For a valid request: its other videos by id. Known ones are unchanged.
  std::vector<std::pair<std::string, FleetJob>> others = {};
};

// Judges the log's next message.
FoldResult Judge(FoldRecords records, const FoldEntry& entry);

}  // namespace reel::front
