// SPDX-License-Identifier: Apache-2.0
// The JSON files of a model folder.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace reel::model {

// An object of at most 8 MiB and 64 levels. NOT_FOUND, or FAILED_PRECONDITION with the file's name.
absl::StatusOr<nlohmann::json> ReadJsonFile(const std::string& path);
// The same for text that came out of `source`.
absl::StatusOr<nlohmann::json> ParseJson(const std::string& text, const std::string& source);

}  // namespace reel::model
