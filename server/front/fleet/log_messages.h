// SPDX-License-Identifier: Apache-2.0
// The only place of this folder that knows both forms: messages as bytes (reel.fleet.v1), and what
// the fold asks of them.
#pragma once

#include <cstdint>
#include <string>

#include "server/front/fleet/log_fold.h"

namespace reel::front {

// A message as the stream has it.
struct StoredMessage {
  uint64_t sequence = 0;
  std::string subject;
  std::string message_id;  // its writer's; empty: written by something that is none of ours
  std::string payload;
};

// Unreadable: a subject that is none, bytes that are not its message, a claim or an end without a
// node, an end or a wish that says nothing that this build knows.
LogEntry ReadEntry(const StoredMessage& message);

}  // namespace reel::front
