// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli), as in iSCSI and RFC 3720: the checksum of every media chunk.
#pragma once

#include <cstdint>
#include <string_view>

namespace reel {

// Of `bytes`, by the processor's instruction where it has one. `seed` is the value so far when a
// text comes in pieces.
uint32_t Crc32c(std::string_view bytes, uint32_t seed = 0);

// The same by tables: the way on processors without SSE 4.2, and what the other is tested against.
uint32_t Crc32cByTables(std::string_view bytes, uint32_t seed = 0);

}  // namespace reel
