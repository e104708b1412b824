// SPDX-License-Identifier: Apache-2.0
#include "server/convert/sha256.h"

#include <openssl/sha.h>

#include <array>

namespace reel::server {

std::string Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char byte : bytes) {
    hex += kDigits[static_cast<unsigned char>(byte) >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::string HexDigest(std::string_view bytes) {
  std::array<char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return Hex({digest.data(), digest.size()});
}

}  // namespace reel::server
