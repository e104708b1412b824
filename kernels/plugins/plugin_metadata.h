// SPDX-License-Identifier: Apache-2.0
// Reads metadata.json of a kernel build.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace reel::kernels {

inline constexpr int64_t kMaxPluginMetadataBytes = 1 << 20;
inline constexpr size_t kMaxPluginFiles = 4096;

struct PluginMetadata {
  std::string id;  // an identifier: the namespace of its operators
  std::string name;
  std::string backend;                       // "cpu", "cuda"
  std::vector<std::string> archs;            // for a CUDA build
  std::map<std::string, std::string> files;  // path inside the build to its 32 bytes of SHA-256
};

// INVALID_ARGUMENT, with the key, if a required value is missing or wrong.
absl::StatusOr<PluginMetadata> ParsePluginMetadata(std::string_view text);

}  // namespace reel::kernels
