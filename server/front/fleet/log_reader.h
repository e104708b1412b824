// SPDX-License-Identifier: Apache-2.0
// Who is told what the log says, in its order.
#pragma once

#include <cstdint>

#include "server/front/fleet/log_messages.h"

namespace reel::front {

// What the stream is now.
struct StreamFacts {
  int64_t created = 0;  // nanoseconds of the wall clock: another number is another stream
  uint64_t first = 0;   // sequence of its oldest message; last + 1 when it is empty
  uint64_t last = 0;    // highest that was given
};

// Called on the tail's thread.
class LogReader {
 public:
  virtual ~LogReader() = default;
  // Sequences rise; where one is left out, nothing is stored.
  virtual void OnMessage(const StoredMessage& message) = 0;
  // What was read is of another stream, or of one that no longer has what comes next: all is read
  // anew.
  virtual void OnRebuild() = 0;
  // Everything that was stored a moment ago has been read.
  virtual void OnCaughtUp(const StreamFacts& facts) = 0;
};

}  // namespace reel::front
