// SPDX-License-Identifier: Apache-2.0
// Reads the JSON files of a model folder.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace reel::model {

// Reads an object of at most 8 MiB and 64 levels. NOT_FOUND, or FAILED_PRECONDITION with the file's
// name.
absl::StatusOr<nlohmann::json> ReadJsonFile(const std::string& path);
// The same for a text from `source`; a vocabulary may be larger than a configuration.
inline constexpr size_t kMostJsonBytes = size_t{8} << 20;
absl::StatusOr<nlohmann::json> ParseJson(std::string_view text, const std::string& source,
                                         size_t most_bytes = kMostJsonBytes);

}  // namespace reel::model
