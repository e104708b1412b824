// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/nkey_seed.h"

#include <openssl/evp.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/front/config/secret_files.h"

namespace reel::front {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
// First bytes, so that a seed of a user begins with "SU" and its public key with "U".
constexpr uint8_t kSeed = 18 << 3;
constexpr uint8_t kUser = 20 << 3;
constexpr size_t kKeyBytes = 32;
constexpr size_t kSumBytes = 2;
constexpr size_t kSeedDigits = ((2 + kKeyBytes + kSumBytes) * 8 + 4) / 5;

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};

// RFC 4648, base 32 without padding.
std::optional<Bytes> FromBase32(std::string_view text) {
  Bytes bytes;
  uint32_t buffer = 0;
  int bits = 0;
  for (const char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    buffer = (buffer << 5) | static_cast<uint32_t>(digit);
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<uint8_t>(buffer >> bits));
  }
  return bytes;
}

std::string ToBase32(const Bytes& bytes) {
  std::string text;
  uint32_t buffer = 0;
  int bits = 0;
  for (const uint8_t byte : bytes) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += kDigits[(buffer >> bits) & 31];
    }
  }
  if (bits > 0) text += kDigits[(buffer << (5 - bits)) & 31];
  return text;
}

// CRC-16/XMODEM, which NATS appends to keys.
uint16_t SumOf(const uint8_t* bytes, size_t count) {
  uint16_t sum = 0;
  for (size_t i = 0; i < count; ++i) {
    sum = static_cast<uint16_t>(sum ^ (bytes[i] << 8));
    for (int bit = 0; bit < 8; ++bit) {
      const bool carry = (sum & 0x8000) != 0;
      sum = static_cast<uint16_t>(sum << 1);
      if (carry) sum ^= 0x1021;
    }
  }
  return sum;
}

bool HasItsSum(const Bytes& bytes) {
  const size_t count = bytes.size() - kSumBytes;
  const uint16_t sum = SumOf(bytes.data(), count);
  return bytes[count] == (sum & 0xff) && bytes[count + 1] == sum >> 8;
}

}  // namespace

absl::StatusOr<NKey> ParseNKeySeed(std::string_view seed) {
  const std::optional<Bytes> bytes = FromBase32(seed);
  // The second prefix lies across two bytes.
  if (!bytes || seed.size() != kSeedDigits || !HasItsSum(*bytes) ||
      (*bytes)[0] != (kSeed | (kUser >> 5)) || (*bytes)[1] != ((kUser & 31) << 3)) {
    return absl::InvalidArgumentError("must have one line, the seed of a user's key (SU...)");
  }
  const std::unique_ptr<EVP_PKEY, FreeKey> key(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes->data() + 2, kKeyBytes));
  Bytes half(1 + kKeyBytes, kUser);
  size_t size = kKeyBytes;
  if (key == nullptr || EVP_PKEY_get_raw_public_key(key.get(), half.data() + 1, &size) != 1) {
    return absl::InternalError("OpenSSL makes no Ed25519 key");
  }
  const uint16_t sum = SumOf(half.data(), half.size());
  half.push_back(static_cast<uint8_t>(sum & 0xff));
  half.push_back(static_cast<uint8_t>(sum >> 8));
  return NKey{std::string(seed), ToBase32(half)};
}

absl::StatusOr<NKey> ReadNKeySeed(const std::string& path) {
  REEL_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(path));
  REEL_RETURN_IF_ERROR(CheckSecretFile(path));
  absl::StatusOr<NKey> key = ParseNKeySeed(std::string(absl::StripAsciiWhitespace(text)));
  if (key.ok()) return key;
  return absl::Status(key.status().code(), absl::StrCat(key.status().message(), ": ", path));
}

}  // namespace reel::front
