// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/ltx2_model.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/layers/load_dtype.h"
#include "model/layers/random_weight.h"
#include "model/ltx2/part_sizes.h"
#include "model/ltx2/upsampler_config.h"
#include "model/ltx2/video_vae_config.h"
#include "model/text/text_folder.h"
#include "model/vae/find_upsampler.h"
#include "model/vae/video_vae.h"
#include "model/weights/json_file.h"
#include "model/weights/manifest.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx2 {
namespace {

constexpr char kDiffusersStem[] = "diffusion_pytorch_model";
// Of some prompts with their registers: 12 MB each.
constexpr int64_t kPromptMemoryBytes = int64_t{128} << 20;

// A component's folder, its configuration, and its weights unread.
struct Part {
  std::string config_file;
  nlohmann::json config;
  WeightSet weights;
};

absl::StatusOr<nlohmann::json> ReadConfig(const char* name, const std::string& file) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(file, ignored)) return ReadJsonFile(file);
  return absl::NotFoundError(absl::StrCat("the model has no ", name, ": ", file));
}

absl::StatusOr<Part> OpenPart(const LoadOptions& options, const char* name,
                              const char* stem = kDiffusersStem) {
  const bool is_text = std::string_view(name) == "text_encoder";
  const std::string folder =
      absl::StrCat(is_text ? TextFolderOf(options) : options.path, "/", name);
  const std::string file = folder + "/config.json";
  REEL_ASSIGN_OR_RETURN(nlohmann::json config, ReadConfig(name, file));
  REEL_ASSIGN_OR_RETURN(WeightSet weights,
                        WeightSet::OpenFolder(folder, stem, options.random_weights));
  return Part{file, std::move(config), std::move(weights)};
}

absl::Status CheckTextEncoder(const Part& part) {
  const std::string type = part.config.value("model_type", "gemma3");
  if (!type.starts_with("gemma4")) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the text encoder is Gemma 4, which Reel cannot run yet: ", part.config_file));
}

absl::StatusOr<Transformer> LoadTransformer(const LoadOptions& options, at::ScalarType dtype,
                                            at::Device place) {
  REEL_ASSIGN_OR_RETURN(const Part part, OpenPart(options, "transformer"));
  REEL_ASSIGN_OR_RETURN(const TransformerConfig config,
                        ReadTransformerConfig(part.config, part.config_file));
  return Transformer::Load(part.weights, config, dtype, place);
}

absl::StatusOr<Connectors> LoadConnectors(const LoadOptions& options, at::ScalarType dtype,
                                          at::Device place) {
  REEL_ASSIGN_OR_RETURN(const Part part, OpenPart(options, "connectors"));
  REEL_ASSIGN_OR_RETURN(const ConnectorsConfig config,
                        ReadConnectorsConfig(part.config, part.config_file));
  return Connectors::Load(part.weights, config, kMostTextTokens, dtype, place);
}

absl::StatusOr<GemmaEncoder> LoadTextEncoder(const LoadOptions& options, at::ScalarType dtype,
                                             at::Device place) {
  REEL_ASSIGN_OR_RETURN(const Part part, OpenPart(options, "text_encoder", "model"));
  REEL_RETURN_IF_ERROR(CheckTextEncoder(part));
  REEL_ASSIGN_OR_RETURN(const GemmaConfig config, ReadGemmaConfig(part.config, part.config_file));
  return GemmaEncoder::Load(part.weights, config, dtype, place);
}

struct Vae {
  VaeConfig config;
  VaeEncoder encoder;
  VaeDecoder decoder;
  LatentStatistics statistics;
  int64_t parameters, bytes;
};

absl::StatusOr<Vae> LoadVae(const LoadOptions& options, at::ScalarType dtype, at::Device place) {
  REEL_ASSIGN_OR_RETURN(const Part part, OpenPart(options, "vae"));
  REEL_ASSIGN_OR_RETURN(const VaeConfig config, ReadVideoVaeConfig(part.config, part.config_file));
  Weights weights(part.weights, dtype, place);
  Vae vae = {config, VaeEncoder(weights, config), VaeDecoder(weights, config), {}, 0, 0};
  vae.statistics = TakeStatistics(weights, config, at::kFloat);
  REEL_RETURN_IF_ERROR(weights.Finish());
  vae.parameters = weights.parameters();
  vae.bytes = weights.bytes();
  return vae;
}

absl::StatusOr<SoundOutput> LoadSound(const LoadOptions& options, at::ScalarType dtype,
                                      at::Device place) {
  for (const char* name : {"audio_vae", "vocoder"}) {
    const std::string file = absl::StrCat(options.path, "/", name, "/config.json");
    REEL_RETURN_IF_ERROR(ReadConfig(name, file).status());
  }
  return SoundOutput::LoadFolder(options.path, dtype, place, options.random_weights);
}

absl::StatusOr<SchedulerConfig> LoadScheduler(const LoadOptions& options) {
  const std::string folder = options.path + "/scheduler";
  const std::string file = folder + "/scheduler_config.json";
  REEL_RETURN_IF_ERROR(ReadConfig("scheduler", file).status());
  REEL_ASSIGN_OR_RETURN(SchedulerConfig config, LoadSchedulerConfig(folder));
  if (!config.stochastic_sampling) return config;
  return absl::FailedPreconditionError(
      absl::StrCat("bad configuration: ", file, ": stochastic_sampling must be false"));
}

// Before anything of the files is read. The sum of them all; empty without a manifest.
absl::StatusOr<std::string> VerifyModel(const LoadOptions& options) {
  REEL_RETURN_IF_ERROR(CheckRandomWeights(options));
  if (options.manifest_file.empty()) return "";
  std::vector<ListedFile> files = FilesOf(TextFolderOf(options), {"text_encoder", "tokenizer"});
  const std::vector<ListedFile> rest = FilesOf(
      options.path, {"audio_vae", "connectors", "scheduler", "transformer", "vae", "vocoder"});
  files.insert(files.end(), rest.begin(), rest.end());
  const std::vector<ListedFile> upsampler = UpsamplerFiles(options);
  files.insert(files.end(), upsampler.begin(), upsampler.end());
  return VerifyFiles(options.manifest_file, files);
}

}  // namespace

absl::StatusOr<std::vector<PictureCondition>> Ltx2Model::ConditionsOf(
    const GenerationSpec& spec, const LatentShape& pass) const {
  const int64_t side = vae_config.spatial_compression;
  const PictureSize size = {static_cast<int>(pass.width * side),
                            static_cast<int>(pass.height * side)};
  return reel::model::ConditionsOf(spec, size, static_cast<int>(vae_config.temporal_compression),
                                   dtype, ConditionPlaces::kFirstOfALatent);
}

absl::StatusOr<std::unique_ptr<Ltx2Model>> LoadLtx2Model(const LoadOptions& options,
                                                         at::Device device, Values values) {
  if (!options.peers.empty()) {
    return absl::FailedPreconditionError(
        "LTX-2 cannot share a video's work between devices yet: give it one device");
  }
  REEL_ASSIGN_OR_RETURN(const at::ScalarType dtype, DtypeOf(options, device));
  const at::Device place = values == Values::kNone ? at::Device(at::kMeta) : device;
  REEL_ASSIGN_OR_RETURN(const std::string weights_sha256, VerifyModel(options));
  REEL_ASSIGN_OR_RETURN(const SchedulerConfig scheduler, LoadScheduler(options));
  // The small parts first, so that what is wrong with them is said before the large ones are read.
  REEL_ASSIGN_OR_RETURN(SoundOutput sound, LoadSound(options, dtype, place));
  REEL_ASSIGN_OR_RETURN(Vae vae, LoadVae(options, dtype, place));
  std::optional<LatentUpsampler> upsampler;
  if (!scheduler.use_dynamic_shifting) {
    REEL_ASSIGN_OR_RETURN(upsampler, FindUpsampler(options, ReadUpsamplerConfig,
                                                   vae.config.latent_channels, dtype, place));
  }
  REEL_ASSIGN_OR_RETURN(Connectors connectors, LoadConnectors(options, dtype, place));
  REEL_ASSIGN_OR_RETURN(BpeTokenizer tokenizer,
                        BpeTokenizer::Load(TextFolderOf(options) + "/tokenizer"));
  REEL_ASSIGN_OR_RETURN(Transformer transformer, LoadTransformer(options, dtype, place));
  REEL_RETURN_IF_ERROR(CheckConnectors(connectors.config(), transformer.config()));
  REEL_RETURN_IF_ERROR(CheckVideo(vae.config, transformer.config(), options.path));
  REEL_RETURN_IF_ERROR(CheckSound(sound.vae().config(), transformer.config(), options.path));
  REEL_ASSIGN_OR_RETURN(GemmaEncoder encoder, LoadTextEncoder(options, dtype, place));
  REEL_RETURN_IF_ERROR(
      CheckText(encoder.config(), tokenizer.size(), connectors.config(), options.path));
  Prompts prompts(std::move(tokenizer), std::move(encoder), std::move(connectors),
                  kPromptMemoryBytes);
  int64_t parameters =
      prompts.parameters() + transformer.parameters() + vae.parameters + sound.parameters();
  int64_t bytes = prompts.bytes() + transformer.bytes() + vae.bytes + sound.bytes();
  if (upsampler.has_value()) {
    parameters += upsampler->parameters();
    bytes += upsampler->bytes();
  }
  return std::make_unique<Ltx2Model>(Ltx2Model{.dtype = dtype,
                                               .device = device,
                                               .scheduler = scheduler,
                                               .prompts = std::move(prompts),
                                               .transformer = std::move(transformer),
                                               .vae_config = vae.config,
                                               .encoder = std::move(vae.encoder),
                                               .decoder = std::move(vae.decoder),
                                               .statistics = vae.statistics,
                                               .sound = std::move(sound),
                                               .upsampler = std::move(upsampler),
                                               .parameters = parameters,
                                               .bytes = bytes,
                                               .weights_sha256 = weights_sha256});
}

}  // namespace reel::model::ltx2
