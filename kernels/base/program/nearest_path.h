// SPDX-License-Identifier: Apache-2.0
// Suggests the file or folder that somebody may have meant.
#pragma once

#include <string>

namespace reel {

// The path with its first wrong part put right, as far as that exists; empty when nothing there has
// such a name, and for a path that exists.
std::string NearestPath(const std::string& path);

}  // namespace reel
