// SPDX-License-Identifier: Apache-2.0
// The keys with which the servers of a fleet encrypt what callers wrote.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace reel::front {

// Lines of 64 hex digits, or of base64: 32 bytes each, in the order of the lines. Errors say which
// line, and nothing of it.
absl::StatusOr<std::vector<std::string>> ParseSealKeys(std::string_view text);

// Of a file, its mode as that of a key. Errors name the path.
absl::StatusOr<std::vector<std::string>> ReadSealKeys(const std::string& path);

}  // namespace reel::front
