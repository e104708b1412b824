// SPDX-License-Identifier: Apache-2.0
// The log of a fleet as one node has it: a connection, a writer, and a tail that tells a reader.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "server/front/fleet/log_connection.h"
#include "server/front/fleet/log_tail.h"
#include "server/front/fleet/log_writer.h"

namespace reel::front {

class FleetLog {
 public:
  // `reader` outlives it. Errors as LogConnection::Open.
  static absl::StatusOr<std::unique_ptr<FleetLog>> Open(const FleetLogOptions& options,
                                                        TailStart start, LogReader& reader);

  const LogConnection& connection() const { return *connection_; }
  const LogWriter& writer() const { return writer_; }
  const LogTail& tail() const { return tail_; }

 private:
  FleetLog(std::unique_ptr<LogConnection> connection, TailStart start, LogReader& reader);

  // In this order: the tail ends first.
  const std::unique_ptr<LogConnection> connection_;
  const LogWriter writer_;
  const LogTail tail_;
};

}  // namespace reel::front
