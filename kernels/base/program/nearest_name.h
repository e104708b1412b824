// SPDX-License-Identifier: Apache-2.0
// Suggests the name that a user may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reel {

// The candidate with the smallest edit distance (insert, delete, replace, swap of neighbours);
// empty if none is near, that is, if more than a third of the letters differ.
std::string NearestName(std::string_view typed, const std::vector<std::string>& candidates);

}  // namespace reel
