// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/ltx_model.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx {
namespace {

constexpr char kDiffusersStem[] = "diffusion_pytorch_model";
constexpr int64_t kPromptCacheBytes = int64_t{64} << 20;

absl::StatusOr<at::ScalarType> DtypeOf(const std::string& name, at::Device device) {
  if (name.empty()) return device.is_cpu() ? at::kFloat : at::kBFloat16;
  if (name == "fp32") return at::kFloat;
  if (name == "bf16") return at::kBFloat16;
  if (name == "fp16") return at::kHalf;
  return absl::InvalidArgumentError(absl::StrCat("the type is none of fp32, bf16, fp16: ", name));
}

std::string VersionOf(const VaeConfig& config) {
  if (config.down.back().sampler == DownStage::Sampler::kSpaceToDepth) return "0.9.5";
  return config.timestep_conditioning ? "0.9.1" : "0.9.0";
}

absl::StatusOr<Transformer> LoadTransformer(const std::string& folder, at::ScalarType dtype,
                                            at::Device device) {
  REEL_ASSIGN_OR_RETURN(const nlohmann::json json, ReadJsonFile(folder + "/config.json"));
  REEL_ASSIGN_OR_RETURN(const TransformerConfig config,
                        ReadTransformerConfig(json, folder + "/config.json"));
  REEL_ASSIGN_OR_RETURN(const WeightSet stored, WeightSet::OpenFolder(folder, kDiffusersStem));
  return Transformer::Load(stored, config, dtype, device);
}

absl::StatusOr<T5Encoder> LoadTextEncoder(const std::string& folder, at::ScalarType dtype,
                                          at::Device device) {
  REEL_ASSIGN_OR_RETURN(const nlohmann::json json, ReadJsonFile(folder + "/config.json"));
  REEL_ASSIGN_OR_RETURN(const T5Config config, ReadT5Config(json, folder + "/config.json"));
  REEL_ASSIGN_OR_RETURN(const WeightSet stored, WeightSet::OpenFolder(folder, "model"));
  return T5Encoder::Load(stored, config, dtype, device);
}

struct Vae {
  VaeConfig config;
  VaeEncoder encoder;
  VaeDecoder decoder;
  LatentStatistics statistics;
  int64_t parameters;
};

absl::StatusOr<Vae> LoadVae(const std::string& folder, at::ScalarType dtype, at::Device device) {
  REEL_ASSIGN_OR_RETURN(const nlohmann::json json, ReadJsonFile(folder + "/config.json"));
  REEL_ASSIGN_OR_RETURN(const VaeConfig config, ReadVaeConfig(json, folder + "/config.json"));
  REEL_ASSIGN_OR_RETURN(const WeightSet stored, WeightSet::OpenFolder(folder, kDiffusersStem));
  Weights weights(stored, dtype, device);
  Vae vae = {config, VaeEncoder(weights, config), VaeDecoder(weights, config), {}, 0};
  const at::Tensor mean = weights.Take("latents_mean", {config.latent_channels});
  const at::Tensor deviation = weights.Take("latents_std", {config.latent_channels});
  REEL_RETURN_IF_ERROR(weights.Finish());
  vae.statistics = {mean.view({1, -1, 1, 1, 1}), deviation.view({1, -1, 1, 1, 1}),
                    config.scaling_factor};
  vae.parameters = weights.parameters();
  return vae;
}

absl::Status CheckParts(const Transformer& transformer, const T5Encoder& text, const Vae& vae,
                        const std::string& folder) {
  const bool channels = transformer.config().in_channels == vae.config.latent_channels;
  const bool captions = transformer.config().caption_channels == text.config().width;
  if (channels && captions) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the folder's parts do not fit together: ", folder, ": ",
                   channels ? "text_encoder/config.json d_model is not the transformer's "
                              "caption_channels"
                            : "vae/config.json latent_channels is not the transformer's "
                              "in_channels"));
}

}  // namespace

bool IsLtxFolder(const std::string& path) {
  const auto index = ReadJsonFile(path + "/model_index.json");
  if (!index.ok()) return false;
  const auto name = index->find("_class_name");
  return name != index->end() && name->is_string() &&
         name->get_ref<const std::string&>().rfind("LTX", 0) == 0;
}

absl::StatusOr<std::unique_ptr<LtxModel>> LoadLtxModel(const std::string& folder,
                                                       const std::string& dtype_name,
                                                       at::Device device) {
  REEL_ASSIGN_OR_RETURN(const at::ScalarType dtype, DtypeOf(dtype_name, device));
  REEL_ASSIGN_OR_RETURN(const SchedulerConfig scheduler,
                        LoadSchedulerConfig(folder + "/scheduler"));
  REEL_ASSIGN_OR_RETURN(T5Tokenizer tokenizer, T5Tokenizer::Load(folder + "/tokenizer"));
  REEL_ASSIGN_OR_RETURN(Vae vae, LoadVae(folder + "/vae", dtype, device));
  REEL_ASSIGN_OR_RETURN(T5Encoder text, LoadTextEncoder(folder + "/text_encoder", dtype, device));
  REEL_ASSIGN_OR_RETURN(Transformer transformer,
                        LoadTransformer(folder + "/transformer", dtype, device));
  REEL_RETURN_IF_ERROR(CheckParts(transformer, text, vae, folder));
  const int64_t parameters = transformer.parameters() + vae.parameters + text.parameters();
  return std::make_unique<LtxModel>(
      LtxModel{.dtype = dtype,
               .device = device,
               .version = VersionOf(vae.config),
               .scheduler = scheduler,
               .prompts = PromptEncoder(std::move(tokenizer), std::move(text), kPromptCacheBytes),
               .transformer = std::move(transformer),
               .vae_config = vae.config,
               .encoder = std::move(vae.encoder),
               .decoder = std::move(vae.decoder),
               .statistics = vae.statistics,
               .parameters = parameters});
}

}  // namespace reel::model::ltx
