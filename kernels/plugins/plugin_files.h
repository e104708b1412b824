// SPDX-License-Identifier: Apache-2.0
// The files of a plug-in: below one folder whatever links say, of bounded size, hashed.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace reel::kernels {

// The real path of root/folder. PERMISSION_DENIED when it is not below the real path of `root`,
// NOT_FOUND when it is not there.
absl::StatusOr<std::filesystem::path> ResolveBelow(const std::string& root,
                                                   const std::string& folder);

// INVALID_ARGUMENT for a file of more than `max_bytes`, NOT_FOUND for none.
absl::StatusOr<std::string> ReadPluginFile(const std::filesystem::path& path, int64_t max_bytes);

// 32 bytes.
absl::StatusOr<std::string> Sha256OfFile(const std::filesystem::path& path);

// The names of the folders in `folder`, at most `limit`, by name.
std::vector<std::string> FoldersIn(const std::filesystem::path& folder, size_t limit);

// Every file of `folder` is one of `digests` (path to SHA-256) or metadata.json, every one of
// `digests` is there and is what it says, and none lies outside `root`. Python's bytecode, which is
// never read, does not count. DATA_LOSS or PERMISSION_DENIED with the file's name.
absl::Status CheckDigests(const std::filesystem::path& root, const std::filesystem::path& folder,
                          const std::map<std::string, std::string>& digests);

}  // namespace reel::kernels
