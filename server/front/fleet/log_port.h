// SPDX-License-Identifier: Apache-2.0
// The fleet's log and its nodes' signs of life as a node uses them; an interface, so that a node
// can be tested without a broker.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/fleet/log_messages.h"

namespace reel::front {

// A message for the log, and what became of it. Values.
struct LogWrite {
  std::string subject;
  std::string payload;
  // Of this attempt and of no other, also not of this node's last one: it tells one's own message
  // from a rival's.
  std::string message_id;
  bool repeated = false;  // it was written before, under this id, and that came to no answer
  // Stored after it, or none of all; only for a log of one's own (EmbeddedLog).
  std::vector<LogWrite> also = {};
};

struct WriteResult {
  enum class Outcome {
    kWon,     // stored, at `sequence`. Whether it counts the fold says
    kLost,    // the subject was written by another
    kUnknown  // it may be stored, now or later: the fold says it, or the same message written again
  };
  Outcome outcome = Outcome::kUnknown;
  uint64_t sequence = 0;
};

// What the stream is now.
struct StreamFacts {
  int64_t created = 0;  // nanoseconds of the wall clock: another number is another stream
  uint64_t first = 0;   // sequence of its oldest message; last + 1 when it is empty
  uint64_t last = 0;    // highest that was given
};

// Where a reader has come to, and what the tail goes on from.
struct TailStart {
  uint64_t position = 0;
  int64_t created = 0;  // of its stream; 0: of any
};

// The interface of whoever reads the log, in its order. Called on the tail's thread, but for Start.
class LogReader {
 public:
  virtual ~LogReader() = default;
  // Before the tail begins.
  virtual TailStart Start() { return {}; }
  // What comes next is of this stream.
  virtual void OnStream(int64_t created) { (void)created; }
  // As many as were there at once, and at least one. Sequences rise; where one is left out, nothing
  // is stored. False: they could not be kept, and all is read anew.
  virtual bool OnMessages(const std::vector<StoredMessage>& messages) = 0;
  // What was read is of another stream, or of one that no longer has what comes next: all is read
  // anew.
  virtual void OnRebuild() = 0;
  // Everything that was stored a moment ago has been read. False: as of OnMessages.
  virtual bool OnCaughtUp(const StreamFacts& facts) = 0;
};

// How the log is to be reached.
struct LogHealth {
  bool connected = false;
  bool answers = false;  // it has a leader, as of the last look
  bool closed = false;   // for good: only a restart opens it again
  uint64_t newest = 0;   // the last that is known to be there
  int64_t holes = 0, rebuilds = 0;
  std::vector<std::string> versions;  // of the brokers that answered at the start, each once
};

// What was looked at, and what to do where it is not as it should be.
struct LogCheck {
  std::string name;
  bool ok = false;
  std::string detail, hint;
};

// Thread-safe.
class LogPort {
 public:
  virtual ~LogPort() = default;
  // Whether anything can be written or heard.
  virtual bool IsUp() const = 0;
  // Never waits.
  virtual LogHealth Health() const {
    LogHealth health;
    health.connected = health.answers = IsUp();
    return health;
  }
  // Looks at brokers, stream and permissions anew, and writes nothing; waits, for seconds.
  // `claims`: whether this server must be allowed to claim, not only to take requests.
  virtual std::vector<LogCheck> Check(bool claims) {
    (void)claims;
    return {};
  }
  // Whether Post returns at once.
  virtual bool PostsAtOnce() const { return false; }
  // As LogWriter::Write; waits.
  virtual absl::StatusOr<WriteResult> Write(const LogWrite& write, absl::Duration patience) = 0;
  // The same, told to `done`: before this returns, or later on the log's thread. A log that commits
  // several writes together needs to have them at once. `also` is for EmbeddedLog alone.
  using Written = absl::AnyInvocable<void(absl::StatusOr<WriteResult>)>;
  virtual void Post(LogWrite write, absl::Duration patience, Written done) {
    done(Write(write, patience));
  }
  // Sequence of the newest message that is stored now, by the broker's word; waits.
  virtual absl::StatusOr<uint64_t> Newest() = 0;
  // What the broker's clock says; waits. UNIMPLEMENTED: it tells no time.
  virtual absl::StatusOr<absl::Time> Time() { return absl::UnimplementedError("no clock"); }
  // One that is lost is followed by the next.
  virtual void SendBeat(const std::string& node, const std::string& beat) = 0;
  // Those that came since the last call; never waits.
  virtual std::vector<std::string> TakeBeats() = 0;
};

}  // namespace reel::front
