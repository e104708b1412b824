// SPDX-License-Identifier: Apache-2.0
// Formats a server's workers as a table.
#pragma once

#include <string>

#include "reel/v1/server_service.pb.h"

namespace reel::client {

std::string WorkerTable(const v1::GetServerInfoResponse& info);

}  // namespace reel::client
