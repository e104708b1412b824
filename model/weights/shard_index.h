// SPDX-License-Identifier: Apache-2.0
// Reads the index of a sharded component: which file holds which tensor.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace reel::model {

using ShardIndex = std::map<std::string, std::string>;  // tensor to file name, without a folder

// NOT_FOUND: no index. FAILED_PRECONDITION: not an index, more than 20,000 tensors, or a file name
// that leaves the folder.
absl::StatusOr<ShardIndex> ReadShardIndex(const std::string& path);

}  // namespace reel::model
