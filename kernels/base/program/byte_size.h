// SPDX-License-Identifier: Apache-2.0
// Sizes of memory as people write them in flags.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace reel {

// Bytes of "24GB", "24 GB", "23.5GiB", "800MB", "800MiB", or of a number alone. Nullopt for other
// texts, and unless it is above 0 and below 1 PB.
std::optional<int64_t> ParseByteSize(const std::string& text);

// For a flag's text; empty: ParseByteSize reads it.
std::string WhyNotByteSize(const std::string& text);

}  // namespace reel
