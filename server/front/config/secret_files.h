// SPDX-License-Identifier: Apache-2.0
// Small files that a person wrote, and those of them that nobody else may reach: keys, credentials,
// headers that carry some.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace reel::front {

// Small files that a person wrote: configuration, tokens, certificates.

constexpr int64_t kMaxSmallFileBytes = 1 << 20;

// The whole file. NOT_FOUND, PERMISSION_DENIED or, above `max_bytes` and for anything but a regular
// file, INVALID_ARGUMENT; all name the path.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path,
                                          int64_t max_bytes = kMaxSmallFileBytes);

// Checks that nobody else can reach the file of a secret: a key, a table of tokens.
struct FileAccess {
  mode_t mode = 0;
  uid_t owner = 0;
  gid_t group = 0;
};

// Empty: it is closed enough, else who can do what to it. The group may read where root owns the
// file or the group is one of `own_groups`, which is how Kubernetes mounts secrets. It may never
// write. All others may do nothing.
std::string WhyNotSecret(const FileAccess& file, const std::vector<gid_t>& own_groups);

// The same of the file that `path` leads to and the groups of this process: PERMISSION_DENIED with
// the mode.
absl::Status CheckSecretFile(const std::string& path);

// A server's name and secret at another service, in a file of one line.
struct KeyPair {
  std::string key, secret;
};

// Of a file with one line, "key:secret"; its mode as that of a key. Errors name the path and
// nothing of what it has.
absl::StatusOr<KeyPair> ReadKeyPair(const std::string& path);

// The keys with which the servers of a fleet encrypt what callers wrote.

// Lines of 64 hex digits, or of base64: 32 bytes each, in the order of the lines. Errors say which
// line, and nothing of it.
absl::StatusOr<std::vector<std::string>> ParseSealKeys(std::string_view text);

// Of a file, its mode as that of a key. Errors name the path.
absl::StatusOr<std::vector<std::string>> ReadSealKeys(const std::string& path);

// Headers that a collector wants with each request, its credentials among them, in a file.

// Of a file with a line "Name: value" for each, its mode as that of a key; blank lines and those
// that begin with '#' are skipped. Errors name the path and the line's number, and nothing of what
// it has.
absl::StatusOr<std::vector<std::string>> ReadCollectorHeaders(const std::string& path);

// A server's NATS key: a seed that stays here, and the public half that the brokers know.
struct NKey {
  std::string seed;        // "SU..."
  std::string public_key;  // "U..."
};

// INVALID_ARGUMENT: it is no seed of a user, or was not copied whole. Errors say nothing of it.
absl::StatusOr<NKey> ParseNKeySeed(std::string_view seed);

// Of a file with one line; its mode as that of a key. Errors name the path.
absl::StatusOr<NKey> ReadNKeySeed(const std::string& path);

}  // namespace reel::front
