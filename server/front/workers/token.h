// SPDX-License-Identifier: Apache-2.0
// The secret by which a worker proves that it is the child that reeld has started.
#pragma once

#include <string>
#include <string_view>

namespace reel::front {

// 256 random bits in hex.
std::string MakeToken();
// In a time that does not depend on where they differ. An empty one equals nothing.
bool TokensEqual(std::string_view a, std::string_view b);

}  // namespace reel::front
