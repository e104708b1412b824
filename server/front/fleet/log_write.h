// SPDX-License-Identifier: Apache-2.0
// A message for the log, and what became of it. Values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace reel::front {

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

}  // namespace reel::front
