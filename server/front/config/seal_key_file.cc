// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/seal_key_file.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kernels/base/status_macros.h"
#include "server/front/config/read_file.h"
#include "server/front/config/secret_file.h"

namespace reel::front {
namespace {

constexpr size_t kSealKeyBytes = 32;
constexpr size_t kSealKeyDigits = 2 * kSealKeyBytes;
constexpr size_t kMostSealKeys = 16;

bool IsOfHexDigits(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return absl::ascii_isxdigit(c); });
}

// Of another size than a key's: it is none.
std::string SealKeyOf(absl::string_view line) {
  if (line.size() == kSealKeyDigits && IsOfHexDigits(line)) return absl::HexStringToBytes(line);
  std::string key;
  if (!absl::Base64Unescape(line, &key)) key.clear();
  return key;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ParseSealKeys(std::string_view text) {
  std::vector<std::string> keys;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty()) continue;
    const std::string key = SealKeyOf(line);
    if (key.size() != kSealKeyBytes) {
      return absl::InvalidArgumentError(absl::StrCat(
          "must have a key a line, 32 bytes as 64 hex digits or base64 (openssl rand -hex 32); "
          "line ",
          number, " is none"));
    }
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) {
      return absl::InvalidArgumentError(absl::StrCat("has a key twice, again in line ", number));
    }
    if (keys.size() == kMostSealKeys) {
      return absl::InvalidArgumentError(absl::StrCat("has more than ", kMostSealKeys, " keys"));
    }
    keys.push_back(key);
  }
  if (keys.empty()) {
    return absl::InvalidArgumentError("has no key: one is made by openssl rand -hex 32");
  }
  return keys;
}

absl::StatusOr<std::vector<std::string>> ReadSealKeys(const std::string& path) {
  REEL_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(path));
  REEL_RETURN_IF_ERROR(CheckSecretFile(path));
  auto keys = ParseSealKeys(text);
  if (keys.ok()) return keys;
  return absl::Status(keys.status().code(), absl::StrCat(keys.status().message(), ": ", path));
}

}  // namespace reel::front
