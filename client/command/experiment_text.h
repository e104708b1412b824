// SPDX-License-Identifier: Apache-2.0
// Prints a server's A/B experiments. Pure.
#pragma once

#include <string>

#include "reel/v1/server_service.pb.h"

namespace reel::client {

// The arms and the results of their videos, then the step times of each shape.
std::string DescribeExperiments(const v1::ListExperimentsResponse& experiments);

}  // namespace reel::client
