// SPDX-License-Identifier: Apache-2.0
// The ids that make creating a video safe to repeat.
#pragma once

#include <string>

namespace reel::client {

// A random (version 4) UUID: with it a call may be sent again without rendering twice.
std::string NewRequestId();

}  // namespace reel::client
