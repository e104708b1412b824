// SPDX-License-Identifier: Apache-2.0
#include "model/text/text_folder.h"

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/weights/checkpoint.h"
#include "model/weights/json_file.h"
#include "model/weights/part_files.h"
#include "model/weights/quantisation_config.h"
#include "model/weights/weight_set.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

absl::Status CheckText(const std::string& config_file, const LoadOptions& options) {
  if (IsFile(config_file)) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat(
      "the model has no text encoder: ", config_file,
      IsFile(options.path) ? "; a single file has none: put text_encoder/ and tokenizer/ beside "
                             "it, or set text_folder to a folder that has them"
                           : ""));
}

}  // namespace

std::string TextFolderOf(const LoadOptions& options) {
  if (!options.text_folder.empty()) return options.text_folder;
  if (!IsFile(options.path)) return options.path;
  const std::filesystem::path folder = std::filesystem::path(options.path).parent_path();
  return folder.empty() ? "." : folder.string();
}

absl::StatusOr<PromptEncoder> LoadPromptEncoder(const LoadOptions& options, at::ScalarType dtype,
                                                at::Device device, int64_t cache_bytes,
                                                std::shared_ptr<LayerRing> ring) {
  const std::string folder = TextFolderOf(options);
  const std::string encoder_folder = folder + "/text_encoder";
  const std::string config_file = encoder_folder + "/config.json";
  REEL_RETURN_IF_ERROR(CheckText(config_file, options));
  REEL_ASSIGN_OR_RETURN(T5Tokenizer tokenizer, T5Tokenizer::Load(folder + "/tokenizer"));
  REEL_ASSIGN_OR_RETURN(nlohmann::json json, ReadJsonFile(config_file));
  REEL_ASSIGN_OR_RETURN(const WeightSet stored,
                        OpenPart(options, ModelPart::kTextEncoder, encoder_folder, "model"));
  REEL_RETURN_IF_ERROR(TakeQuantisationConfig(json, config_file, stored.layout()));
  REEL_ASSIGN_OR_RETURN(const T5Config config, ReadT5Config(json, config_file));
  REEL_ASSIGN_OR_RETURN(T5Encoder encoder, T5Encoder::Load(stored, config, dtype, device,
                                                           std::move(ring), options.text_form));
  return PromptEncoder(std::move(tokenizer), std::move(encoder), cache_bytes);
}

}  // namespace reel::model
