// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/call_identity.h"

#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>

#include "absl/strings/escaping.h"

namespace reel::front {
namespace {

std::string Hex(const unsigned char* bytes, size_t count) {
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(bytes), count));
}

std::array<unsigned char, 16> Random16() {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    std::random_device device;  // the pool of OpenSSL is empty: the system's is not
    for (auto& byte : bytes) byte = static_cast<unsigned char>(device());
  }
  return bytes;
}

std::string UuidText(std::array<unsigned char, 16> bytes, int version) {
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0F) | (version << 4));
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3F) | 0x80);
  std::string text = Hex(bytes.data(), bytes.size());
  for (const size_t at : {8U, 13U, 18U, 23U}) text.insert(at, 1, '-');
  return text;
}

bool IsLowerHex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool AllZero(std::string_view text) {
  return text.find_first_not_of('0') == std::string_view::npos;
}

struct TraceParts {
  std::string_view trace, parent, flags;
};

// Nothing of an invalid traceparent.
std::optional<TraceParts> Split(std::string_view header) {
  // version "-" trace-id "-" parent-id "-" flags; later versions may append "-..." to it.
  constexpr size_t kLength = 55;
  if (header.size() < kLength || header[2] != '-' || header[35] != '-' || header[52] != '-') {
    return std::nullopt;
  }
  const std::string_view version = header.substr(0, 2);
  const TraceParts parts = {header.substr(3, 32), header.substr(36, 16), header.substr(53, 2)};
  if (!IsLowerHex(version) || !IsLowerHex(parts.trace) || !IsLowerHex(parts.parent) ||
      !IsLowerHex(parts.flags)) {
    return std::nullopt;
  }
  if (version == "ff" || AllZero(parts.trace) || AllZero(parts.parent)) return std::nullopt;
  if (header.size() > kLength && (version == "00" || header[kLength] != '-')) return std::nullopt;
  return parts;
}

}  // namespace

bool IsUuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const char c = text[i];
    const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (dash ? c != '-' : !hex) return false;
  }
  return true;
}

std::string DrawUuid() { return UuidText(Random16(), 4); }

std::string UuidOfName(std::string_view name) {
  // A namespace of ours, drawn once.
  std::string text = "\x5b\x1d\x0c\x7e\x2f\x64\x4a\x39\x9d\x51\xe3\x08\x6a\xc4\x72\xb1";
  text += name;
  std::array<unsigned char, SHA_DIGEST_LENGTH> hash{};
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash.data());
  std::array<unsigned char, 16> bytes{};
  std::copy_n(hash.begin(), bytes.size(), bytes.begin());
  return UuidText(bytes, 5);
}

std::string TraceIdOf(std::string_view header) {
  const auto parts = Split(header);
  return parts ? std::string(parts->trace) : "";
}

CallerSpan CallerSpanOf(std::string_view header) {
  const auto parts = Split(header);
  if (!parts) return {};
  // The last of the flags' bits; the digit is a lower-case one.
  const char last = parts->flags.back();
  const int digit = last <= '9' ? last - '0' : last - 'a' + 10;
  return {std::string(parts->parent), (digit & 1) != 0};
}

std::string DrawTraceId() {
  auto bytes = Random16();
  bytes[15] = static_cast<unsigned char>(bytes[15] | 1);  // all zero is no id
  return Hex(bytes.data(), bytes.size());
}

}  // namespace reel::front
