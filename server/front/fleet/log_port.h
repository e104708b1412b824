// SPDX-License-Identifier: Apache-2.0
// The fleet's log and its nodes' signs of life as a node uses them; an interface, so that a node
// can be tested without a broker.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/fleet/log_write.h"

namespace reel::front {

// Thread-safe.
class LogPort {
 public:
  virtual ~LogPort() = default;
  // Whether anything can be written or heard.
  virtual bool IsUp() const = 0;
  // As LogWriter::Write; waits.
  virtual absl::StatusOr<WriteResult> Write(const LogWrite& write, absl::Duration patience) = 0;
  // One that is lost is followed by the next.
  virtual void SendBeat(const std::string& node, const std::string& beat) = 0;
  // Those that came since the last call; never waits.
  virtual std::vector<std::string> TakeBeats() = 0;
};

}  // namespace reel::front
