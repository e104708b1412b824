// SPDX-License-Identifier: Apache-2.0
// Finds the models that an installation includes. They are served if no others are configured, and
// the first is rendered with if none is named.
#pragma once

#include <string>
#include <vector>

namespace reel::model {

struct BundledModel {
  std::string name;
  std::string path;
  std::string dtype;
  std::string manifest_file;  // empty: none is installed
};

// Those that there can be, the default one first: pictures alone, and with sound.
inline constexpr const char* kBundledModels[] = {"ltx-demo", "ltx2-demo"};

// The path share/reel/models beside this program's folder.
std::string BundledModelsFolder();

// In the order of kBundledModels; empty if none is installed, as in a build without libtorch.
std::vector<BundledModel> FindBundledModels(const std::string& models_folder);

}  // namespace reel::model
