// SPDX-License-Identifier: Apache-2.0
// The name of a condition's bytes.
#pragma once

#include <string>
#include <string_view>

namespace reel::server {

// Lower-case hex.
std::string Sha256Hex(std::string_view bytes);

}  // namespace reel::server
