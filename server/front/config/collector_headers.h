// SPDX-License-Identifier: Apache-2.0
// Headers that a collector wants with each request, its credentials among them, in a file.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace reel::front {

// Of a file with a line "Name: value" for each, its mode as that of a key; blank lines and those
// that begin with '#' are skipped. Errors name the path and the line's number, and nothing of what
// it has.
absl::StatusOr<std::vector<std::string>> ReadCollectorHeaders(const std::string& path);

}  // namespace reel::front
