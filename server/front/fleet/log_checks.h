// SPDX-License-Identifier: Apache-2.0
// Checks of the brokers for `reel doctor`: that they are what a fleet needs, and let this server do
// what it must.
#pragma once

#include <vector>

#include "server/front/fleet/log_connection.h"
#include "server/front/fleet/log_port.h"

namespace reel::front {

// Waits for each broker, and for each permission that is missing. Nothing is stored: what is tried
// to be written can never be true.
std::vector<LogCheck> CheckLog(const LogConnection& connection, bool claims);

}  // namespace reel::front
