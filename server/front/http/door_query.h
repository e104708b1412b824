// SPDX-License-Identifier: Apache-2.0
// Queries of the door's addresses.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace reel::front {

// The one value of each name that is in `names`, "a b"; INVALID_REQUEST for others.
absl::StatusOr<std::map<std::string, std::string>> ReadKnown(const std::string& query,
                                                             std::string_view names);

// A number of a query or a field, not negative: none is 0.
absl::StatusOr<uint64_t> ReadNumber(std::string_view name, std::string_view text);

}  // namespace reel::front
