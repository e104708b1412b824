// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli), as in iSCSI and RFC 3720: the checksum of every media chunk.
#pragma once

#include <cstdint>
#include <string_view>

namespace reel {

// The checksum of `bytes`, by the processor's instruction if it has one. `seed` is the checksum of
// the preceding pieces.
uint32_t Crc32c(std::string_view bytes, uint32_t seed = 0);

// The same by tables, for processors without SSE 4.2, and to test the other.
uint32_t Crc32cByTables(std::string_view bytes, uint32_t seed = 0);

}  // namespace reel
