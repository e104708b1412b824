// SPDX-License-Identifier: Apache-2.0
// Weights that are what somebody said they are: files against a list of their SHA-256 sums.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace reel::model {

// A file, as a manifest calls it and where it is.
struct ListedFile {
  std::string name;  // e.g. "vae/diffusion_pytorch_model.safetensors"
  std::string path;
};

// The files of the folders `parts` below `root`, which is where their names begin; not those of
// folders in them. A part that is not there has none.
std::vector<ListedFile> FilesOf(const std::string& root, const std::vector<std::string>& parts);

// Reads `manifest`, lines "sha256  name" as sha256sum writes them, and every file that it lists of
// `files`. NOT_FOUND: no manifest. FAILED_PRECONDITION names the file: its sum is another, or it
// holds weights, by its first bytes or its name, and is not listed; or the line that is none. The
// answer names all of them together: the SHA-256 of their lines "sha256  name", each with its end,
// in the order of their names.
absl::StatusOr<std::string> VerifyFiles(const std::string& manifest,
                                        const std::vector<ListedFile>& files);

}  // namespace reel::model
