// SPDX-License-Identifier: Apache-2.0
// Reads and hashes a plug-in's files: below one folder, whatever links say, and of bounded size.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace reel::kernels {

// The real path of root/folder. PERMISSION_DENIED if it is not below the real path of `root`,
// NOT_FOUND if it does not exist.
absl::StatusOr<std::filesystem::path> ResolveBelow(const std::string& root,
                                                   const std::string& folder);

// INVALID_ARGUMENT for a file above `max_bytes`, NOT_FOUND if it is missing.
absl::StatusOr<std::string> ReadPluginFile(const std::filesystem::path& path, int64_t max_bytes);

// 32 bytes.
absl::StatusOr<std::string> Sha256OfFile(const std::filesystem::path& path);

// The names of the folders in `folder`, at most `limit`, sorted.
std::vector<std::string> FoldersIn(const std::filesystem::path& folder, size_t limit);

// Checks that every file of `folder` is metadata.json or has its digest in `digests` (path to
// SHA-256), that none of those is missing, and that none is outside `root`. Python's bytecode,
// which is never read, is ignored. DATA_LOSS or PERMISSION_DENIED with the file's name.
absl::Status CheckDigests(const std::filesystem::path& root, const std::filesystem::path& folder,
                          const std::map<std::string, std::string>& digests);

}  // namespace reel::kernels
