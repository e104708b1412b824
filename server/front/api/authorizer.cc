// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/authorizer.h"

#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/errors/error.h"

namespace reel::front {
namespace {

constexpr size_t kMaxTokenBytes = 1024;
constexpr std::string_view kScheme = "bearer ";

const char* RoleName(Role role) {
  switch (role) {
    case Role::kViewer:
      return "viewer";
    case Role::kUser:
      return "user";
    case Role::kAdmin:
      return "admin";
  }
  return "";
}

std::string_view TokenOf(std::string_view authorization) {
  const absl::string_view text(authorization.data(), authorization.size());
  if (!absl::StartsWithIgnoreCase(text, absl::string_view(kScheme.data(), kScheme.size()))) {
    return {};
  }
  const std::string_view token = authorization.substr(kScheme.size());
  return token.size() <= kMaxTokenBytes ? token : std::string_view();
}

}  // namespace

Authorizer::Authorizer(TokenTable tokens)
    : tokens_(std::make_shared<const TokenTable>(std::move(tokens))) {}

std::shared_ptr<const TokenTable> Authorizer::tokens() const {
  MutexLock lock(mutex_);
  return tokens_;
}

void Authorizer::Replace(TokenTable tokens) {
  MutexLock lock(mutex_);
  if (tokens_ != nullptr) tokens_ = std::make_shared<const TokenTable>(std::move(tokens));
}

absl::StatusOr<Principal> Authorizer::Authorize(std::string_view authorization,
                                                Method method) const {
  const std::shared_ptr<const TokenTable> table = tokens();
  if (table == nullptr) return Principal{"default", Role::kAdmin};
  const MethodRow& row = RowOf(method);
  if (!row.role) return Principal{"default", Role::kViewer};
  const std::string_view token = TokenOf(authorization);
  const Principal* known = table->Find(token);
  if (token.empty() || known == nullptr) {
    return MakeError(Reason::kUnauthenticated,
                     "The call needs a token: metadata 'authorization: Bearer <token>'");
  }
  if (known->role < *row.role) {
    const std::string name(row.name);
    return MakeError(Reason::kPermissionDenied,
                     absl::StrCat("The caller's role may not call this method; ", name, " needs ",
                                  RoleName(*row.role), ", the caller has ", RoleName(known->role)),
                     {.metadata = {{"method", name},
                                   {"role", RoleName(known->role)},
                                   {"needed_role", RoleName(*row.role)}}});
  }
  return *known;
}

Reach ReachOf(const Principal& principal) {
  return {principal.tenant, principal.role == Role::kAdmin};
}

absl::Status StillReaches(const Principal& before, const Principal& now) {
  if (now.tenant != before.tenant) {
    return MakeError(Reason::kUnauthenticated, "The call's token belongs to another tenant now");
  }
  if (now.role < before.role && before.role == Role::kAdmin) {
    return MakeError(Reason::kPermissionDenied, "The call's token is not an admin's any more");
  }
  return absl::OkStatus();
}

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
