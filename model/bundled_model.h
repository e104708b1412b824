// SPDX-License-Identifier: Apache-2.0
// Finds the model that an installation includes: it is served and rendered with if no other is
// named.
#pragma once

#include <optional>
#include <string>

namespace reel::model {

struct BundledModel {
  std::string name;
  std::string path;
  std::string dtype;
  std::string manifest_file;  // empty: none is installed
};

inline constexpr char kBundledModel[] = "ltx-demo";

// The path share/reel/models beside this program's folder.
std::string BundledModelsFolder();

// Nothing if none is installed, as in a build without libtorch.
std::optional<BundledModel> FindBundledModel(const std::string& models_folder);

}  // namespace reel::model
