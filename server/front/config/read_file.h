// SPDX-License-Identifier: Apache-2.0
// Small files that a person wrote: configuration, tokens, certificates.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace reel::front {

constexpr int64_t kMaxSmallFileBytes = 1 << 20;

// The whole file. NOT_FOUND, PERMISSION_DENIED or, above `max_bytes` and for anything but a regular
// file, INVALID_ARGUMENT; all name the path.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path,
                                          int64_t max_bytes = kMaxSmallFileBytes);

// OK when only the owner can read or write the file, else PERMISSION_DENIED with its mode.
absl::Status CheckSecretFileMode(const std::string& path);

}  // namespace reel::front
