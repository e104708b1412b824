// SPDX-License-Identifier: Apache-2.0
// A server's name and secret at another service, in a file of one line.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace reel::front {

struct KeyPair {
  std::string key, secret;
};

// Of a file with one line, "key:secret"; its mode as that of a key. Errors name the path and
// nothing of what it has.
absl::StatusOr<KeyPair> ReadKeyPair(const std::string& path);

}  // namespace reel::front
