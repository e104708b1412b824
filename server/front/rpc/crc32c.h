// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli), as MediaChunk.crc32c carries it: the processor's instruction where it has
// one, else a table.
#pragma once

#include <cstdint>
#include <string_view>

namespace reel::front {

uint32_t Crc32c(std::string_view bytes);
// What every other way is tested against, and the way on processors without SSE 4.2.
uint32_t Crc32cByTable(std::string_view bytes);

}  // namespace reel::front
