// SPDX-License-Identifier: Apache-2.0
// The interface of whoever reads the log, in its order.
#pragma once

#include <cstdint>
#include <vector>

#include "server/front/fleet/log_messages.h"

namespace reel::front {

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

// Called on the tail's thread, but for Start.
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

}  // namespace reel::front
