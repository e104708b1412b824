// SPDX-License-Identifier: Apache-2.0
// The model that comes along with an installation: what is served and rendered with when nobody
// names another.
#pragma once

#include <optional>
#include <string>

namespace reel::model {

struct BundledModel {
  std::string name;
  std::string path;
  std::string dtype;
  std::string manifest_file;  // empty: none is there
};

inline constexpr char kBundledModel[] = "ltx-demo";

// share/reel/models beside the folder of this program.
std::string BundledModelsFolder();

// Nothing where none came along, as in a build without libtorch.
std::optional<BundledModel> FindBundledModel(const std::string& models_folder);

}  // namespace reel::model
