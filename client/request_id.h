// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace reel::client {

// A random (version 4) UUID: with it a call may be sent again without rendering twice.
std::string NewRequestId();

}  // namespace reel::client
