// SPDX-License-Identifier: Apache-2.0
#include "model/bundled_model.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/program_folder.h"

namespace reel::model {

std::string BundledModelsFolder() {
  return (kernels::ProgramFolder().parent_path() / "share" / "reel" / "models").string();
}

std::vector<BundledModel> FindBundledModels(const std::string& models_folder) {
  std::vector<BundledModel> models;
  if (models_folder.empty()) return models;
  for (const char* const name : kBundledModels) {
    std::error_code ignored;
    const std::string folder = absl::StrCat(models_folder, "/", name);
    if (!std::filesystem::exists(folder + "/model_index.json", ignored)) continue;
    // fp32: small enough for any machine, and faster than bf16 on the CPUs that have no
    // instructions for that.
    BundledModel model{name, folder, "fp32", folder + "/SHA256SUMS"};
    if (!std::filesystem::exists(model.manifest_file, ignored)) model.manifest_file.clear();
    models.push_back(std::move(model));
  }
  return models;
}

}  // namespace reel::model
