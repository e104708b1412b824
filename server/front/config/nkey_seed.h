// SPDX-License-Identifier: Apache-2.0
// A server's NATS key: a seed that stays here, and the public half that the brokers know.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace reel::front {

struct NKey {
  std::string seed;        // "SU..."
  std::string public_key;  // "U..."
};

// INVALID_ARGUMENT: it is no seed of a user, or was not copied whole. Errors say nothing of it.
absl::StatusOr<NKey> ParseNKeySeed(std::string_view seed);

// Of a file with one line; its mode as that of a key. Errors name the path.
absl::StatusOr<NKey> ReadNKeySeed(const std::string& path);

}  // namespace reel::front
