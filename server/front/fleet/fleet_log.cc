// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/fleet_log.h"

#include <utility>

#include "kernels/base/status_macros.h"

namespace reel::front {

absl::StatusOr<std::unique_ptr<FleetLog>> FleetLog::Open(const FleetLogOptions& options,
                                                         TailStart start, LogReader& reader) {
  REEL_ASSIGN_OR_RETURN(std::unique_ptr<LogConnection> connection, LogConnection::Open(options));
  return std::unique_ptr<FleetLog>(new FleetLog(std::move(connection), start, reader));
}

FleetLog::FleetLog(std::unique_ptr<LogConnection> connection, TailStart start, LogReader& reader)
    : connection_(std::move(connection)),
      writer_(*connection_),
      tail_(*connection_, start, reader) {}

}  // namespace reel::front
