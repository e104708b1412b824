// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/secret_files.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "kernels/base/status_macros.h"

namespace reel::front {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

absl::StatusOr<std::string> ReadSmallFile(const std::string& path, int64_t max_bytes) {
  // Not blocking: a named pipe must not hold the start up.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("The file cannot be opened: ", path));
  }
  struct stat info{};
  if (fstat(file.get(), &info) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("The file cannot be examined: ", path));
  }
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat("Not a regular file: ", path));
  }
  if (info.st_size > max_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("The file is too large: ", path, " has ",
                                                   info.st_size, " bytes, at most ", max_bytes,
                                                   " are read"));
  }
  std::string text(static_cast<size_t>(info.st_size), '\0');
  size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = read(file.get(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat("The file cannot be read: ", path));
    }
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  text.resize(filled);
  return text;
}

namespace {

// The supplementary ones may or may not have the effective one among them.
std::vector<gid_t> OwnGroups() {
  std::vector<gid_t> groups(static_cast<size_t>(std::max(0, getgroups(0, nullptr))));
  const int count = getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<size_t>(std::max(0, count)));
  groups.push_back(getegid());
  return groups;
}

}  // namespace

std::string WhyNotSecret(const FileAccess& file, const std::vector<gid_t>& own_groups) {
  if ((file.mode & S_IRWXO) != 0) return "every user can reach it";
  if ((file.mode & S_IWGRP) != 0) return "its group can write it";
  if ((file.mode & S_IRWXG) == 0 || file.owner == 0) return "";
  const bool ours = std::count(own_groups.begin(), own_groups.end(), file.group) > 0;
  return ours ? "" : "a group that this process is not in can read it";
}

absl::Status CheckSecretFile(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("The file cannot be examined: ", path));
  }
  const std::string why = WhyNotSecret({info.st_mode, info.st_uid, info.st_gid}, OwnGroups());
  if (why.empty()) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrFormat(
      "The file is open to others: %s has %04o, %s; set its mode to 0600, or to 0440 with an owner "
      "root or a group of this process",
      path, static_cast<unsigned>(info.st_mode) & 07777U, why));
}

absl::StatusOr<KeyPair> ReadKeyPair(const std::string& path) {
  REEL_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(path));
  REEL_RETURN_IF_ERROR(CheckSecretFile(path));
  const std::string line(absl::StripTrailingAsciiWhitespace(text));
  const size_t colon = line.find(':');
  const bool one_line = line.find('\n') == std::string::npos;
  if (!one_line || colon == std::string::npos || colon == 0 || colon + 1 == line.size()) {
    return absl::InvalidArgumentError(absl::StrCat("must have one line, NAME:SECRET: ", path));
  }
  return KeyPair{line.substr(0, colon), line.substr(colon + 1)};
}

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

namespace {

constexpr size_t kMostHeaders = 16;
constexpr int64_t kMostHeaderFileBytes = 16 * 1024;
// They say how the request is framed and what it has, which is not the file's to say.
constexpr const char* kOurs[] = {"Connection",   "Content-Encoding", "Content-Length",
                                 "Content-Type", "Expect",           "Host",
                                 "Trailer",      "Transfer-Encoding"};

bool IsHeaderNameChar(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
}

bool IsHeaderValueChar(char c) { return (c >= ' ' && c < 0x7F) || c == '\t'; }

// Empty: the line is a header.
const char* WhyNoHeader(absl::string_view line) {
  const size_t colon = line.find(':');
  const absl::string_view name = line.substr(0, colon);
  if (colon == absl::string_view::npos || name.empty() ||
      !std::all_of(name.begin(), name.end(), IsHeaderNameChar)) {
    return "must be NAME: VALUE";
  }
  const bool ours = std::any_of(std::begin(kOurs), std::end(kOurs), [name](const char* taken) {
    return absl::EqualsIgnoreCase(name, taken);
  });
  if (ours) return "has a header that is not the file's to set";
  const absl::string_view value = absl::StripAsciiWhitespace(line.substr(colon + 1));
  if (value.empty()) return "has no value";
  return std::all_of(value.begin(), value.end(), IsHeaderValueChar) ? ""
                                                                    : "has characters beyond ASCII";
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadCollectorHeaders(const std::string& path) {
  REEL_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(path, kMostHeaderFileBytes));
  REEL_RETURN_IF_ERROR(CheckSecretFile(path));
  std::vector<std::string> headers;
  int number = 0;
  for (const absl::string_view whole : absl::StrSplit(text, '\n')) {
    ++number;
    const absl::string_view line = absl::StripAsciiWhitespace(whole);
    if (line.empty() || line[0] == '#') continue;
    const absl::string_view problem = WhyNoHeader(line);
    if (!problem.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("line ", number, " ", problem, ": ", path));
    }
    headers.emplace_back(line);
  }
  if (headers.empty() || headers.size() > kMostHeaders) {
    return absl::InvalidArgumentError(
        absl::StrCat("must have 1 to ", kMostHeaders, " lines NAME: VALUE: ", path));
  }
  return headers;
}

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
