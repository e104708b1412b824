// SPDX-License-Identifier: Apache-2.0
// The judge of the log: from a state and a message to a state and a verdict. It knows no clock, no
// broker and no other input, so nodes that have read the same messages are in the same state. What
// the broker lets through, twice or late or from an owner who was replaced, is void here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "server/front/fleet/subjects.h"

namespace reel::front {

enum class CancelKind { kCancelled, kExpired };
enum class FinishKind { kSucceeded, kFailed, kReleased };

// What a message says, as far as the fold asks. Everything else is for those who act upon it.
struct RequestSaid {};
struct ClaimSaid {
  std::string node;
};
struct FinishSaid {
  std::string node;
  FinishKind kind = FinishKind::kFailed;
};
struct CancelSaid {
  CancelKind kind = CancelKind::kCancelled;
};
// Bytes that are no message of the log's.
struct UnreadableSaid {};

struct LogEntry {
  uint64_t sequence = 0;  // in the stream, from 1
  LogSubject subject;     // meaningless where it is unreadable
  std::variant<UnreadableSaid, RequestSaid, ClaimSaid, FinishSaid, CancelSaid> said;
};

enum class Verdict {
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
  kWishedBefore
};
bool IsVoid(Verdict verdict);
// One word for logs and metrics, e.g. "wrong_epoch".
const char* NameOf(Verdict verdict);

enum class FleetPhase { kQueued, kClaimed, kSucceeded, kFailed, kCancelled, kExpired };

struct FleetJob {
  FleetPhase phase = FleetPhase::kQueued;
  uint32_t epoch = 0;      // the last that was claimed; 0: none
  std::string owner;       // who claimed it; stays when it is released or ended
  uint64_t requested = 0;  // sequence of the request: its place in the queue
  // It is to end. Of a claimed video that is for its owner to do, or for who takes it over.
  std::optional<CancelKind> wish;

  bool operator==(const FleetJob&) const = default;
};
bool HasEnded(FleetPhase phase);

struct FleetState {
  using Key = std::pair<std::string, std::string>;  // tenant, id
  uint64_t position = 0;                            // sequence of the last message
  std::map<Key, FleetJob> jobs;

  bool operator==(const FleetState&) const = default;
};

// `entry` may be any, in any order; sequences at or below the position change nothing.
Verdict Fold(FleetState& state, const LogEntry& entry);

}  // namespace reel::front
