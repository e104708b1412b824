// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/ltx_model.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/adapters/add_adapters.h"
#include "model/family/card_file.h"
#include "model/family/network_sizes.h"
#include "model/layers/load_dtype.h"
#include "model/layers/random_weight.h"
#include "model/ltx/checkpoint_config.h"
#include "model/ltx/checkpoint_names.h"
#include "model/ltx/part_names.h"
#include "model/ltx/read_vae_config.h"
#include "model/text/text_folder.h"
#include "model/vae/find_upsampler.h"
#include "model/vae/video_vae.h"
#include "model/weights/checkpoint.h"
#include "model/weights/json_file.h"
#include "model/weights/manifest.h"
#include "model/weights/part_files.h"
#include "model/weights/quantisation_config.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx {
namespace {

constexpr char kDiffusersStem[] = "diffusion_pytorch_model";
constexpr int64_t kPromptCacheBytes = int64_t{64} << 20;

std::string VersionOf(const VaeConfig& config) {
  if (config.down.back().sampler == DownStage::Sampler::kSpaceToDepth) return "0.9.5";
  return config.timestep_conditioning ? "0.9.1" : "0.9.0";
}

// Where the parts are and how they are laid out; nothing is loaded yet.
struct Plan {
  SchedulerConfig scheduler;
  TransformerConfig transformer_config;
  WeightSet transformer;
  VaeConfig vae_config;
  WeightSet vae;
};

absl::StatusOr<Plan> PlanFolder(const LoadOptions& options) {
  const std::string& folder = options.path;
  const std::string transformer = folder + "/transformer", vae = folder + "/vae";
  REEL_ASSIGN_OR_RETURN(const SchedulerConfig scheduler,
                        LoadSchedulerConfig(folder + "/scheduler"));
  REEL_ASSIGN_OR_RETURN(nlohmann::json transformer_json,
                        ReadJsonFile(transformer + "/config.json"));
  REEL_ASSIGN_OR_RETURN(nlohmann::json vae_json, ReadJsonFile(vae + "/config.json"));
  REEL_ASSIGN_OR_RETURN(WeightSet transformer_set,
                        OpenPart(options, ModelPart::kTransformer, transformer, kDiffusersStem));
  REEL_ASSIGN_OR_RETURN(WeightSet vae_set, OpenPart(options, ModelPart::kVae, vae, kDiffusersStem));
  if (FileOf(options, ModelPart::kTransformer) != nullptr) {
    REEL_ASSIGN_OR_RETURN(transformer_set, TransformerPart(transformer_set));
  }
  if (FileOf(options, ModelPart::kVae) != nullptr) {
    REEL_ASSIGN_OR_RETURN(vae_set, VaePart(vae_set));
  }
  REEL_RETURN_IF_ERROR(TakeQuantisationConfig(transformer_json, transformer + "/config.json",
                                              transformer_set.layout()));
  REEL_RETURN_IF_ERROR(TakeQuantisationConfig(vae_json, vae + "/config.json", vae_set.layout()));
  REEL_ASSIGN_OR_RETURN(const auto transformer_config,
                        ReadTransformerConfig(transformer_json, transformer + "/config.json"));
  REEL_ASSIGN_OR_RETURN(const auto vae_config, ReadVaeConfig(vae_json, vae + "/config.json"));
  return Plan{.scheduler = scheduler,
              .transformer_config = transformer_config,
              .transformer = std::move(transformer_set),
              .vae_config = vae_config,
              .vae = std::move(vae_set)};
}

// A file may have the transformer alone, as GGUF files do; its autoencoder is a part then.
absl::StatusOr<Plan> PlanSingleFile(const LoadOptions& options) {
  REEL_ASSIGN_OR_RETURN(const WeightSet file, WeightSet::OpenFile(options.path));
  REEL_RETURN_IF_ERROR(CheckIsLtx(file));
  if (const std::string* const other = FileOf(options, ModelPart::kTransformer)) {
    return BroughtTwice(ModelPart::kTransformer, options.path, *other);
  }
  REEL_ASSIGN_OR_RETURN(CheckpointVersion version, DetectVersion(file));
  REEL_ASSIGN_OR_RETURN(WeightSet transformer, TransformerOf(file));
  REEL_ASSIGN_OR_RETURN(WeightSet vae, VaeOf(file, version));
  if (const std::string* const other = FileOf(options, ModelPart::kVae)) {
    if (!vae.tensors().empty()) return BroughtTwice(ModelPart::kVae, options.path, *other);
    REEL_ASSIGN_OR_RETURN(const WeightSet part, WeightSet::OpenFile(*other));
    if (version != CheckpointVersion::k097) {
      REEL_ASSIGN_OR_RETURN(version, VersionOfVaePart(part));
    }
    REEL_ASSIGN_OR_RETURN(vae, VaePart(part));
  }
  REEL_ASSIGN_OR_RETURN(const auto transformer_config, TransformerConfigOf(transformer, version));
  if (vae.tensors().empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the file has no autoencoder; name its file as the part vae: ", options.path));
  }
  REEL_ASSIGN_OR_RETURN(const auto vae_config, VaeConfigOf(vae, version));
  return Plan{.scheduler = SchedulerConfigOf(version),
              .transformer_config = transformer_config,
              .transformer = std::move(transformer),
              .vae_config = vae_config,
              .vae = std::move(vae)};
}

absl::Status CheckParts(const Transformer& transformer, const T5Encoder& text, const VideoVae& vae,
                        const std::string& folder) {
  const bool channels = transformer.config().in_channels == vae.config.latent_channels;
  const bool captions = transformer.config().caption_channels == text.config().width;
  if (channels && captions) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the parts of the folder do not match: ", folder, ": ",
                   channels ? "text_encoder/config.json d_model is not the transformer's "
                              "caption_channels"
                            : "vae/config.json latent_channels is not the transformer's "
                              "in_channels"));
}

// Of a load on a group, what its first rank has of each divided part.
struct SharedTensors {
  TensorsByName transformer, vae;
};

// The other ranks' parts.
absl::Status LoadOthers(const Plan& plan, const std::vector<int>& peers, SharedTensors& shared,
                        LtxModel& model) {
  const FittedLoad held = FittedLoad().InForm(model.transformer.form());
  const auto load = [&](at::Device device) -> absl::StatusOr<PeerParts<Transformer>> {
    REEL_ASSIGN_OR_RETURN(Transformer transformer,
                          Transformer::Load(plan.transformer, plan.transformer_config, model.dtype,
                                            device, {.shared = &shared.transformer}, held));
    REEL_ASSIGN_OR_RETURN(
        VideoVae vae, LoadVideoVae(plan.vae, plan.vae_config, model.dtype, device, &shared.vae));
    return PeerParts<Transformer>{std::move(transformer), std::move(vae.decoder)};
  };
  REEL_ASSIGN_OR_RETURN(LoadedPeers<Transformer> loaded,
                        LoadPeers<Transformer>(model.device, peers, load));
  model.crew = loaded.NewCrew(MakeRankLink(loaded.devices));
  model.peers = std::move(loaded.parts);
  return absl::OkStatus();
}

}  // namespace

WeightSizes SizesOf(const LtxModel& model) {
  const auto number = static_cast<int64_t>(c10::elementSize(model.dtype));
  const int64_t others =
      model.parameters - model.prompts.encoder().parameters() - model.transformer.parameters();
  WeightSizes sizes = NetworkSizes(model);
  sizes.autoencoders = std::max<int64_t>(others * number - sizes.encoder_layers, 0);
  return sizes;
}

// Before anything of them is read. What names them all; empty where nobody said what they are.
absl::StatusOr<std::string> VerifyModel(const LoadOptions& options) {
  if (!options.decoder.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("LTX-Video has no ", options.decoder, " decoder: leave `decoder` out"));
  }
  REEL_RETURN_IF_ERROR(CheckRandomWeights(options));
  if (options.manifest_file.empty()) return "";
  std::vector<ListedFile> files = FilesOf(TextFolderOf(options), {"text_encoder", "tokenizer"});
  std::vector<ListedFile> rest;
  if (IsFile(options.path)) {
    rest = {{std::filesystem::path(options.path).filename().string(), options.path}};
  } else {
    rest = FilesOf(options.path, {"scheduler", "transformer", "vae"});
  }
  files.insert(files.end(), rest.begin(), rest.end());
  for (const auto& more : {UpsamplerFiles(options), PartFilesOf(options)}) {
    files.insert(files.end(), more.begin(), more.end());
  }
  return VerifyFiles(options.manifest_file, files);
}

absl::StatusOr<std::unique_ptr<LtxModel>> LoadLtxModel(const LoadOptions& options,
                                                       at::Device device, Values values,
                                                       const FittedLoad& fitted) {
  REEL_ASSIGN_OR_RETURN(const at::ScalarType dtype, DtypeOf(options, device));
  const at::Device place = values == Values::kNone ? at::Device(at::kMeta) : device;
  REEL_ASSIGN_OR_RETURN(const std::string weights_sha256, VerifyModel(options));
  REEL_RETURN_IF_ERROR(CheckPartsOf(options, {ModelPart::kTransformer, ModelPart::kVae,
                                              ModelPart::kTextEncoder, ModelPart::kUpsampler}));
  REEL_ASSIGN_OR_RETURN(const VaeTiling tiling, ReadVaeTiling(options.path));
  REEL_ASSIGN_OR_RETURN(Plan plan,
                        IsFile(options.path) ? PlanSingleFile(options) : PlanFolder(options));
  const AdaptedPart adapted = {&plan.transformer, ""};
  REEL_ASSIGN_OR_RETURN(std::vector<FixedAdapter> adapters,
                        AddAdapters(options, AdapterFamily::kLtxVideo, {&adapted, 1}));
  REEL_ASSIGN_OR_RETURN(std::unique_ptr<AdapterRoom> room, AdapterRoomOf(options));
  const bool on_group = values == Values::kStored && !options.peers.empty();
  const FittedLoad held = fitted.InForm(options.weights_form);
  StandBehindWeights(room.get(), device, dtype, held);
  SharedTensors shared;  // with all that layers were put together from, until the end of the load
  REEL_ASSIGN_OR_RETURN(VideoVae vae,
                        LoadVideoVae(plan.vae, plan.vae_config, dtype, place,
                                     on_group ? &shared.vae : nullptr, fitted.encoder_ring()));
  REEL_ASSIGN_OR_RETURN(
      PromptEncoder prompts,
      LoadPromptEncoder(options, dtype, place, kPromptCacheBytes, fitted.text_ring()));
  const T5Encoder& text = prompts.encoder();
  REEL_ASSIGN_OR_RETURN(
      Transformer transformer,
      Transformer::Load(plan.transformer, plan.transformer_config, dtype, place,
                        {on_group ? &shared.transformer : nullptr, room.get()}, held));
  REEL_ASSIGN_OR_RETURN(std::unique_ptr<AdapterShelf> shelf,
                        AdapterShelf::Of(std::move(room), AdapterFamily::kLtxVideo));
  REEL_RETURN_IF_ERROR(CheckParts(transformer, text, vae, options.path));
  REEL_ASSIGN_OR_RETURN(
      std::optional<LatentUpsampler> upsampler,
      FindUpsampler(options, ReadUpsamplerConfig, vae.config.latent_channels, dtype, place));
  const int64_t parameters = transformer.parameters() + vae.parameters + text.parameters() +
                             (upsampler.has_value() ? upsampler->parameters() : 0);
  auto model = std::make_unique<LtxModel>(
      LtxModel{.dtype = dtype,
               .device = device,
               .version = VersionOf(vae.config),
               .scheduler = plan.scheduler,
               .prompts = std::move(prompts),
               .transformer = std::move(transformer),
               .vae_config = vae.config,
               .encoder = std::move(vae.encoder),
               .decoder = std::move(vae.decoder),
               .tiling = tiling,
               .statistics = vae.statistics,
               .upsampler = std::move(upsampler),
               .parameters = parameters,
               .weights_sha256 = SumWithAdapters(weights_sha256, adapters),
               .adapters = std::move(adapters),
               .adapter_shelf = std::move(shelf),
               .crew = nullptr,
               .peers = {}});
  if (on_group) REEL_RETURN_IF_ERROR(LoadOthers(plan, options.peers, shared, *model));
  return model;
}

}  // namespace reel::model::ltx
