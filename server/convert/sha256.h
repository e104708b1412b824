// SPDX-License-Identifier: Apache-2.0
// The name of a condition's bytes, and bytes as text.
#pragma once

#include <string>
#include <string_view>

namespace reel::server {

// Two lower-case digits a byte.
std::string Hex(std::string_view bytes);

// Of the digest.
std::string HexDigest(std::string_view bytes);

}  // namespace reel::server
