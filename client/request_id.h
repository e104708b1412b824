// SPDX-License-Identifier: Apache-2.0
// Makes ids that make creating a video safe to repeat.
#pragma once

#include <string>

namespace reel::client {

// A random (version 4) UUID: a call with it may be sent again without rendering twice.
std::string NewRequestId();

}  // namespace reel::client
