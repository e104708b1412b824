// SPDX-License-Identifier: Apache-2.0
// What `reel fleet` shows: the servers of a fleet, what waits, and how its log and store are. Pure.
#pragma once

#include <string>

#include "reel/v1/server_service.pb.h"

namespace reel::client {

std::string DescribeFleet(const v1::GetFleetResponse& fleet);

}  // namespace reel::client
