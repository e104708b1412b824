// SPDX-License-Identifier: Apache-2.0
// A server's A/B experiments for people. Pure.
#pragma once

#include <string>

#include "reel/v1/server_service.pb.h"

namespace reel::client {

// The arms and what became of their videos, then what was seen of each shape.
std::string DescribeExperiments(const v1::ListExperimentsResponse& experiments);

}  // namespace reel::client
