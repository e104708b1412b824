// SPDX-License-Identifier: Apache-2.0
#include "model/vae/find_upsampler.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/weights/checkpoint.h"
#include "model/weights/json_file.h"
#include "model/weights/part_files.h"
#include "model/weights/weight_set.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

constexpr char kUpsampler[] = "latent_upsampler";
constexpr char kDiffusersStem[] = "diffusion_pytorch_model";

std::string UpsamplerFolderOf(const LoadOptions& options) {
  const std::filesystem::path path = options.path;
  return ((IsFile(options.path) ? path.parent_path() : path) / kUpsampler).string();
}

absl::StatusOr<UpsamplerConfig> CheckedConfig(ReadUpsampler read, const nlohmann::json& json,
                                              const std::string& source, int64_t channels) {
  REEL_ASSIGN_OR_RETURN(const UpsamplerConfig config, read(json, source));
  if (config.channels == channels && !config.temporal) return config;
  return absl::FailedPreconditionError(
      absl::StrCat("the latent upsampler does not match the model: ", source, ": ",
                   config.temporal ? "temporal_upsample is true; two passes need a spatial one"
                                   : "in_channels is not the autoencoder's latent_channels"));
}

// As it is released, with its configuration in the metadata.
absl::StatusOr<std::optional<LatentUpsampler>> ReadUpsamplerFile(const std::string& file,
                                                                 ReadUpsampler read,
                                                                 int64_t channels,
                                                                 at::ScalarType dtype,
                                                                 at::Device device) {
  REEL_ASSIGN_OR_RETURN(const WeightSet stored, WeightSet::OpenFile(file));
  REEL_ASSIGN_OR_RETURN(const nlohmann::json json,
                        ParseJson(stored.Metadata("config"), file + ": metadata"));
  REEL_ASSIGN_OR_RETURN(const UpsamplerConfig config, CheckedConfig(read, json, file, channels));
  return LatentUpsampler::Load(stored, config, dtype, device);
}

}  // namespace

absl::StatusOr<std::optional<LatentUpsampler>> FindUpsampler(const LoadOptions& options,
                                                             ReadUpsampler read, int64_t channels,
                                                             at::ScalarType dtype,
                                                             at::Device device) {
  const std::string folder = UpsamplerFolderOf(options);
  const std::string config_file = folder + "/config.json", file = folder + ".safetensors";
  if (const std::string* const part = FileOf(options, ModelPart::kUpsampler)) {
    for (const std::string& own : {config_file, file}) {
      if (IsFile(own)) return BroughtTwice(ModelPart::kUpsampler, own, *part);
    }
    return ReadUpsamplerFile(*part, read, channels, dtype, device);
  }
  if (IsFile(config_file)) {
    REEL_ASSIGN_OR_RETURN(const nlohmann::json json, ReadJsonFile(config_file));
    REEL_ASSIGN_OR_RETURN(const WeightSet stored,
                          WeightSet::OpenFolder(folder, kDiffusersStem, options.random_weights));
    REEL_ASSIGN_OR_RETURN(const UpsamplerConfig config,
                          CheckedConfig(read, json, config_file, channels));
    return LatentUpsampler::Load(stored, config, dtype, device);
  }
  if (IsFile(file) && !options.random_weights.has_value()) {
    return ReadUpsamplerFile(file, read, channels, dtype, device);
  }
  return std::nullopt;
}

std::vector<ListedFile> UpsamplerFiles(const LoadOptions& options) {
  const std::string folder = UpsamplerFolderOf(options), file = folder + ".safetensors";
  const std::string root = std::filesystem::path(folder).parent_path().string();
  std::vector<ListedFile> files = FilesOf(root.empty() ? "." : root, {kUpsampler});
  if (IsFile(file)) files.push_back({std::string(kUpsampler) + ".safetensors", file});
  return files;
}

}  // namespace reel::model
