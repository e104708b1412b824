// SPDX-License-Identifier: Apache-2.0
#include "model/weights/shard_index.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/weights/json_file.h"
#include "model/weights/safetensors_header.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

// Accepts only names that stay in the index's folder.
bool IsPlainFileName(const std::string& name) {
  return !name.empty() && name[0] != '.' && name.size() <= 255 &&
         name.find_first_of(std::string("/\\\0", 3)) == std::string::npos;
}

}  // namespace

absl::StatusOr<ShardIndex> ReadShardIndex(const std::string& path) {
  REEL_ASSIGN_OR_RETURN(const nlohmann::json json, ReadJsonFile(path));
  const auto map = json.find("weight_map");
  if (map == json.end() || !map->is_object()) {
    return absl::FailedPreconditionError(absl::StrCat("the index has no weight_map: ", path));
  }
  if (static_cast<int64_t>(map->size()) > SafetensorsLimits{}.max_tensors) {
    return absl::FailedPreconditionError(absl::StrCat("the index names too many tensors: ", path,
                                                      ": ", map->size(), ", the limit is ",
                                                      SafetensorsLimits{}.max_tensors));
  }
  ShardIndex index;
  for (const auto& [name, file] : map->items()) {
    if (!file.is_string() || !IsPlainFileName(file.get_ref<const std::string&>())) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the index does not name a file in its own folder for a tensor: ", path, ": ", name));
    }
    index[name] = file.get<std::string>();
  }
  return index;
}

}  // namespace reel::model
