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

}  // namespace reel::front
