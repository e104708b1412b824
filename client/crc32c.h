// SPDX-License-Identifier: Apache-2.0
// The checksum of every media chunk: CRC-32C (Castagnoli), as in iSCSI and RFC 3720.
#pragma once

#include <cstdint>
#include <string_view>

namespace reel::client {

// Of `data`; `seed` is the value so far when a text comes in pieces.
uint32_t Crc32c(std::string_view data, uint32_t seed = 0);

}  // namespace reel::client
