// SPDX-License-Identifier: Apache-2.0
// A hash that is the same on every machine and build. Not safe against attackers: use digest/.
#pragma once

#include <cstdint>
#include <string_view>

namespace reel {

class Fnv1a {
 public:
  void Add(std::string_view bytes) {
    for (const char c : bytes) AddByte(static_cast<unsigned char>(c));
  }
  void Add(uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) AddByte(value >> shift & 0xFF);
  }
  // The low bits of FNV mix badly: XOR in the high half.
  uint32_t value() const {
    const uint64_t mixed = (hash_ ^ hash_ >> 29) * 0xBF58476D1CE4E5B9;
    return static_cast<uint32_t>(mixed >> 32);
  }

 private:
  void AddByte(uint32_t byte) { hash_ = (hash_ ^ byte) * 0x100000001B3; }
  uint64_t hash_ = 0xCBF29CE484222325;
};

}  // namespace reel
