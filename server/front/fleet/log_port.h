// SPDX-License-Identifier: Apache-2.0
// Interface of the fleet's log and heartbeats, so that a node can be tested without a broker.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/fleet/log_messages.h"

namespace reel::front {

// A message to write into the log.
struct LogWrite {
  std::string subject;
  std::string payload;
  // Unique to this attempt, to tell this node's message from a rival's.
  std::string message_id;
  bool repeated = false;  // written before under this id, without an answer
  // Messages stored with this one, all or none; only for EmbeddedLog.
  std::vector<LogWrite> also = {};
};

struct WriteResult {
  enum class Outcome {
    kWon,     // stored, at `sequence`. Whether it counts the fold says
    kLost,    // the subject was written by another
    kUnknown  // may be stored, now or later: the fold or a repeated write will tell
  };
  Outcome outcome = Outcome::kUnknown;
  uint64_t sequence = 0;
};

// Current facts of the stream.
struct StreamFacts {
  int64_t created = 0;  // wall clock in nanoseconds; identifies the stream
  uint64_t first = 0;   // sequence of its oldest message; last + 1 when it is empty
  uint64_t last = 0;    // highest that was given
};

// The position from which the tail continues.
struct TailStart {
  uint64_t position = 0;
  int64_t created = 0;  // of its stream; 0 for any
};

// Interface of a reader of the log, in order. Called on the tail's thread, except Start.
class LogReader {
 public:
  virtual ~LogReader() = default;
  // Called before the tail starts.
  virtual TailStart Start() { return {}; }
  // The following messages come from this stream.
  virtual void OnStream(int64_t created) { (void)created; }
  // Takes a batch of at least one message, in ascending order; gaps hold no messages. Returns false
  // if the batch could not be kept; then everything is read again.
  virtual bool OnMessages(const std::vector<StoredMessage>& messages) = 0;
  // The stream was replaced or has lost messages: everything is read again.
  virtual void OnRebuild() = 0;
  // Everything stored a moment ago has been read. Returns false as OnMessages does.
  virtual bool OnCaughtUp(const StreamFacts& facts) = 0;
};

// Whether and how the log can be reached.
struct LogHealth {
  bool connected = false;
  bool answers = false;  // it had a leader at the last look
  bool closed = false;   // for good: only a restart opens it again
  uint64_t newest = 0;   // the last that is known to be there
  int64_t holes = 0, rebuilds = 0;
  std::vector<std::string> versions;  // of brokers that answered at the start, each once
};

// Result of one check, and how to mend a failure.
struct LogCheck {
  std::string name;
  bool ok = false;
  std::string detail, hint;
};

// Thread-safe.
class LogPort {
 public:
  virtual ~LogPort() = default;
  // Whether the log can be written and read.
  virtual bool IsUp() const = 0;
  // Does not block.
  virtual LogHealth Health() const {
    LogHealth health;
    health.connected = health.answers = IsUp();
    return health;
  }
  // Checks brokers, stream and permissions without writing. Blocks for seconds. `claims`: whether
  // this server must be allowed to claim, beside taking requests.
  virtual std::vector<LogCheck> Check(bool claims) {
    (void)claims;
    return {};
  }
  // Whether Post returns at once.
  virtual bool PostsAtOnce() const { return false; }
  // As LogWriter::Write. Blocks.
  virtual absl::StatusOr<WriteResult> Write(const LogWrite& write, absl::Duration patience) = 0;
  // Writes without blocking: calls `done` before this returns or later, on the log's thread. Lets a
  // log commit several writes together. Only EmbeddedLog takes `also`.
  using Written = absl::AnyInvocable<void(absl::StatusOr<WriteResult>)>;
  virtual void Post(LogWrite write, absl::Duration patience, Written done) {
    done(Write(write, patience));
  }
  // Sequence of the newest stored message, asked of the broker. Blocks.
  virtual absl::StatusOr<uint64_t> Newest() = 0;
  // Time of the broker's clock. Blocks. UNIMPLEMENTED if the log has no clock.
  virtual absl::StatusOr<absl::Time> Time() { return absl::UnimplementedError("no clock"); }
  // May be lost; the next one follows soon.
  virtual void SendBeat(const std::string& node, const std::string& beat) = 0;
  // Beats received since the last call. Does not block.
  virtual std::vector<std::string> TakeBeats() = 0;
};

}  // namespace reel::front
