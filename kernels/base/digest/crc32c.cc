// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/digest/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace reel {
namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;  // 0x1EDC6F41, bits reversed
constexpr size_t kLanes = 8;

using Tables = std::array<std::array<uint32_t, 256>, kLanes>;

// Slicing by eight: table k advances a byte over k more zero bytes, so that eight bytes need eight
// independent look-ups.
constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (uint32_t byte = 0; byte < 256; ++byte) {
    for (size_t lane = 1; lane < kLanes; ++lane) {
      const uint32_t before = tables[lane - 1][byte];
      tables[lane][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

uint32_t ByteAt(std::string_view bytes, size_t index) {
  return static_cast<unsigned char>(bytes[index]);
}

uint32_t WordAt(std::string_view bytes, size_t index) {
  return ByteAt(bytes, index) | ByteAt(bytes, index + 1) << 8 | ByteAt(bytes, index + 2) << 16 |
         ByteAt(bytes, index + 3) << 24;
}

uint32_t Advance(uint32_t word, size_t lane) {
  return kTables[lane + 3][word & 0xFF] ^ kTables[lane + 2][(word >> 8) & 0xFF] ^
         kTables[lane + 1][(word >> 16) & 0xFF] ^ kTables[lane][word >> 24];
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t Crc32cByInstruction(std::string_view bytes,
                                                               uint32_t seed) {
  uint64_t crc = ~seed;
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);  // unaligned on purpose
    crc = _mm_crc32_u64(crc, word);
  }
  auto narrow = static_cast<uint32_t>(crc);
  for (; left > 0; --left, ++at) narrow = _mm_crc32_u8(narrow, static_cast<unsigned char>(*at));
  return ~narrow;
}
#endif

}  // namespace

uint32_t Crc32cByTables(std::string_view bytes, uint32_t seed) {
  uint32_t crc = ~seed;
  size_t i = 0;
  for (; i + kLanes <= bytes.size(); i += kLanes) {
    crc = Advance(crc ^ WordAt(bytes, i), 4) ^ Advance(WordAt(bytes, i + 4), 0);
  }
  for (; i < bytes.size(); ++i) crc = (crc >> 8) ^ kTables[0][(crc ^ ByteAt(bytes, i)) & 0xFF];
  return ~crc;
}

uint32_t Crc32c(std::string_view bytes, uint32_t seed) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2") != 0) return Crc32cByInstruction(bytes, seed);
#endif
  return Crc32cByTables(bytes, seed);
}

}  // namespace reel
