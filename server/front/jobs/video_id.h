// SPDX-License-Identifier: Apache-2.0
// Ids of videos: "{replica}-{128 random bits in base32}".
#pragma once

#include <string>

namespace reel::front {

// From the system's random source; cannot be guessed.
std::string NewVideoId(const std::string& replica);

}  // namespace reel::front
