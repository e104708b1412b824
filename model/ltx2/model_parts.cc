// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/model_parts.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/text/text_folder.h"
#include "model/weights/checkpoint.h"
#include "model/weights/json_file.h"
#include "model/weights/quantisation_config.h"

namespace reel::model::ltx2 {
namespace {

absl::StatusOr<nlohmann::json> ReadConfig(const char* name, const std::string& file) {
  if (IsFile(file)) return ReadJsonFile(file);
  return absl::NotFoundError(absl::StrCat("the model has no ", name, ": ", file));
}

absl::StatusOr<StoredPart> OpenFolder(const std::string& root, const char* name, const char* stem,
                                      const LoadOptions& options) {
  const std::string folder = absl::StrCat(root, "/", name), file = folder + "/config.json";
  REEL_ASSIGN_OR_RETURN(nlohmann::json config, ReadConfig(name, file));
  REEL_ASSIGN_OR_RETURN(WeightSet weights,
                        WeightSet::OpenFolder(folder, stem, options.random_weights));
  REEL_RETURN_IF_ERROR(TakeQuantisationConfig(config, file, weights.layout()));
  return StoredPart{file, std::move(config), std::move(weights)};
}

}  // namespace

absl::StatusOr<ModelParts> ModelParts::Open(const LoadOptions& options) {
  ModelParts parts(options);
  if (!IsFile(options.path)) return parts;
  REEL_ASSIGN_OR_RETURN(parts.file_, WeightSet::OpenFile(options.path));
  REEL_ASSIGN_OR_RETURN(parts.file_config_, ReadFileConfig(*parts.file_));
  const std::string text = TextFolderOf(options) + "/text_encoder/config.json";
  if (!IsFile(text)) {
    return absl::NotFoundError(absl::StrCat(
        "a single file of LTX-2 has no text encoder: give the folder that has Gemma 3 as "
        "text_encoder/ and tokenizer/ (--text-folder); there is no ",
        text));
  }
  return parts;
}

absl::StatusOr<StoredPart> ModelParts::Get(FilePart part) const {
  if (!file_.has_value()) {
    return OpenFolder(options_->path, NamesOf(part).folder, "diffusion_pytorch_model", *options_);
  }
  REEL_ASSIGN_OR_RETURN(WeightSet weights, WeightsOfFile(*file_, part));
  REEL_ASSIGN_OR_RETURN(nlohmann::json config, ConfigOfFile(*file_, file_config_, part));
  return StoredPart{options_->path, std::move(config), std::move(weights)};
}

absl::StatusOr<StoredPart> ModelParts::TextEncoder() const {
  return OpenFolder(TextFolderOf(*options_), "text_encoder", "model", *options_);
}

absl::StatusOr<SchedulerConfig> ModelParts::Scheduler() const {
  if (file_.has_value()) return SchedulerOfFile(options_->path);
  const std::string folder = options_->path + "/scheduler";
  const std::string file = folder + "/scheduler_config.json";
  REEL_RETURN_IF_ERROR(ReadConfig("scheduler", file).status());
  REEL_ASSIGN_OR_RETURN(SchedulerConfig config, LoadSchedulerConfig(folder));
  if (!config.stochastic_sampling) return config;
  return absl::FailedPreconditionError(
      absl::StrCat("bad configuration: ", file, ": stochastic_sampling must be false"));
}

}  // namespace reel::model::ltx2
