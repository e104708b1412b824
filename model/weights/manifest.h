// SPDX-License-Identifier: Apache-2.0
// Compares weight files with a list of their SHA-256 sums.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/weights/mapped_file.h"

namespace reel::model {

// A file: its name in a manifest, and its path.
struct ListedFile {
  std::string name;  // e.g. "vae/diffusion_pytorch_model.safetensors"
  std::string path;
};

// The file's SHA-256 in lower-case hex.
std::string SumOf(const MappedFile& file);

// The files in the folders `parts` of `root`, without subfolders; names are relative to `root`. A
// missing part has no files.
std::vector<ListedFile> FilesOf(const std::string& root, const std::vector<std::string>& parts);

// Reads `manifest`, lines "sha256  name" as sha256sum writes them, and every file of `files` that
// it lists. NOT_FOUND: no manifest. FAILED_PRECONDITION names the file whose sum differs, an
// unlisted file that holds weights by its first bytes or its name, or a malformed line. Returns the
// SHA-256 of the lines "sha256  name" with their ends, ordered by name, which stands for all of
// them.
absl::StatusOr<std::string> VerifyFiles(const std::string& manifest,
                                        const std::vector<ListedFile>& files);

}  // namespace reel::model
