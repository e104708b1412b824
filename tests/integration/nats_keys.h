// SPDX-License-Identifier: Apache-2.0
// Keys of users of NATS that a test makes for itself.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace reel::tests {

// A new seed ("SU..."), as `nk -gen user` prints one.
inline std::string MakeNKeySeed() {
  constexpr int kSeed = 18 << 3;
  constexpr int kUser = 20 << 3;
  std::vector<uint8_t> bytes = {kSeed | (kUser >> 5), (kUser & 31) << 3};
  std::random_device random("/dev/urandom");
  for (int i = 0; i < 32; ++i) bytes.push_back(static_cast<uint8_t>(random()));
  uint32_t sum = 0;  // CRC-16/XMODEM
  for (const uint8_t byte : bytes) {
    sum ^= uint32_t{byte} << 8;
    for (int bit = 0; bit < 8; ++bit) sum = (sum << 1) ^ ((sum & 0x8000) != 0 ? 0x11021 : 0);
  }
  bytes.push_back(static_cast<uint8_t>(sum));
  bytes.push_back(static_cast<uint8_t>(sum >> 8));
  std::string text;  // base 32 without padding
  uint32_t buffer = 0;
  int bits = 0;
  for (const uint8_t byte : bytes) {
    buffer = (buffer << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) {
      text += "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[(buffer >> (bits - 5)) & 31];
    }
  }
  return text + "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[(buffer << (5 - bits)) & 31];
}

}  // namespace reel::tests
