// SPDX-License-Identifier: Apache-2.0
// Checks of the brokers for `reel doctor`: their versions, their cluster, and this server's
// permissions.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/fleet/log_connection.h"
#include "server/front/fleet/log_port.h"

namespace reel::front {

// The version in the first line that a broker sends to a new connection: `INFO {...}`. libnats
// cannot ask for it. INVALID_ARGUMENT if there is none.
absl::StatusOr<std::string> VersionOfInfo(const std::string& line);
// FAILED_PRECONDITION: three replicas before 2.10.29 lose what they acknowledged, anything
// before 2.9 has no copies of what it stores.
absl::Status CheckVersion(const std::string& version, int replicas);
// Blocks for at most `limit`, beside the look-up of the name. UNAVAILABLE: nothing answers.
absl::StatusOr<std::string> AskVersion(const std::string& url, absl::Duration limit);

// Blocks for each broker and each missing permission. Stores nothing: its trial writes have
// conditions that never hold.
std::vector<LogCheck> CheckLog(const LogConnection& connection, bool claims);

}  // namespace reel::front
