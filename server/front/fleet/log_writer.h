// SPDX-License-Identifier: Apache-2.0
// Writes messages into the log, each subject once. Thread-safe; a call waits for the broker, so it
// is none for a thread that others wait for.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/fleet/log_connection.h"
#include "server/front/fleet/log_port.h"

namespace reel::front {

class LogWriter {
 public:
  // `connection` outlives it.
  explicit LogWriter(const LogConnection& connection) : connection_(connection) {}

  // Tries until it is won or lost, or `patience` is over. An error means that it is surely not
  // stored: UNAVAILABLE: nothing was sent, the connection is down; RESOURCE_EXHAUSTED: the log is
  // full; INVALID_ARGUMENT: no broker takes this.
  absl::StatusOr<WriteResult> Write(const LogWrite& write, absl::Duration patience) const;

 private:
  // Whose message the subject has; nothing: nobody says.
  std::optional<WriteResult> AskWhose(const LogWrite& write) const;

  const LogConnection& connection_;
};

}  // namespace reel::front
