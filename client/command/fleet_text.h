// SPDX-License-Identifier: Apache-2.0
// The text of `reel fleet`: servers, backlog, log and store. Pure.
#pragma once

#include <string>

#include "reel/v1/server_service.pb.h"

namespace reel::client {

std::string DescribeFleet(const v1::GetFleetResponse& fleet);

}  // namespace reel::client
