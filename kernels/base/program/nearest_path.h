// SPDX-License-Identifier: Apache-2.0
// Suggests the file or folder that a user may have meant.
#pragma once

#include <string>

namespace reel {

// The path with its first wrong part corrected, as far as that exists; empty if no name is near,
// and for a path that exists.
std::string NearestPath(const std::string& path);

}  // namespace reel
