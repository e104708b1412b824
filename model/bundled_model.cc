// SPDX-License-Identifier: Apache-2.0
#include "model/bundled_model.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "kernels/base/program_folder.h"

namespace reel::model {

std::string BundledModelsFolder() {
  return (kernels::ProgramFolder().parent_path() / "share" / "reel" / "models").string();
}

std::optional<BundledModel> FindBundledModel(const std::string& models_folder) {
  std::error_code ignored;
  const std::string folder = absl::StrCat(models_folder, "/", kBundledModel);
  if (models_folder.empty() || !std::filesystem::exists(folder + "/model_index.json", ignored)) {
    return std::nullopt;
  }
  // fp32: small enough for any machine, and faster than bf16 on the CPUs that have no instructions
  // for that.
  BundledModel model{kBundledModel, folder, "fp32", folder + "/SHA256SUMS"};
  if (!std::filesystem::exists(model.manifest_file, ignored)) model.manifest_file.clear();
  return model;
}

}  // namespace reel::model
