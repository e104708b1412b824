// SPDX-License-Identifier: Apache-2.0
// Checks of the brokers for `reel doctor`: that they are what a fleet needs, and let this server do
// what it must.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/fleet/log_connection.h"
#include "server/front/fleet/log_port.h"

namespace reel::front {

// The version of a broker. libnats cannot ask for it, so this reads the first line that a broker
// sends to whoever connects: `INFO {...}`; INVALID_ARGUMENT where it is none.
absl::StatusOr<std::string> VersionOfInfo(const std::string& line);
// FAILED_PRECONDITION: three replicas before 2.10.29 lose what they acknowledged, anything
// before 2.9 has no copies of what it stores.
absl::Status CheckVersion(const std::string& version, int replicas);
// Waits for `limit` at most, beside a look-up of the name. UNAVAILABLE: nobody answers there.
absl::StatusOr<std::string> AskVersion(const std::string& url, absl::Duration limit);

// Waits for each broker, and for each permission that is missing. Nothing is stored: what is tried
// to be written can never be true.
std::vector<LogCheck> CheckLog(const LogConnection& connection, bool claims);

}  // namespace reel::front
