// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/ltx2_model.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/adapters/add_adapters.h"
#include "model/family/network_sizes.h"
#include "model/layers/load_dtype.h"
#include "model/layers/random_weight.h"
#include "model/ltx2/diffusion_config.h"
#include "model/ltx2/model_parts.h"
#include "model/ltx2/part_sizes.h"
#include "model/ltx2/upsampler_config.h"
#include "model/ltx2/video_vae_config.h"
#include "model/reference_clip.h"
#include "model/text/text_folder.h"
#include "model/vae/find_upsampler.h"
#include "model/vae/video_vae.h"
#include "model/weights/checkpoint.h"
#include "model/weights/json_file.h"
#include "model/weights/manifest.h"
#include "model/weights/part_files.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx2 {
namespace {

// Of some prompts with their registers: 12 MB each.
constexpr int64_t kPromptMemoryBytes = int64_t{128} << 20;

absl::StatusOr<std::vector<FixedAdapter>> AddTo(StoredPart& transformer, StoredPart& connectors,
                                                const LoadOptions& options) {
  const std::array<AdaptedPart, 2> parts = {
      {{&transformer.weights, ""}, {&connectors.weights, "connectors."}}};
  return AddAdapters(options, AdapterFamily::kLtx2, parts);
}

struct AdaptableTransformer {
  Transformer transformer;
  std::unique_ptr<AdapterShelf> shelf;  // null without room for adapters
};

// How the weights are held; `place` is the device, or none for a model without values.
struct Holding {
  at::ScalarType dtype;
  at::Device device, place;
  const FittedLoad& fitted;
};

// The parts that the ranks of a group divide: as they are stored, and as the first rank has them.
struct DividedParts {
  StoredPart transformer, vae;
  std::vector<int> peers;  // the other ranks
  TensorsByName of_transformer = {}, of_vae = {};

  TensorsByName* Shared(TensorsByName& part) { return peers.empty() ? nullptr : &part; }
};

absl::StatusOr<DividedParts> DividedOf(const ModelParts& parts, const LoadOptions& options,
                                       Values values) {
  REEL_ASSIGN_OR_RETURN(StoredPart transformer, parts.Get(FilePart::kTransformer));
  REEL_ASSIGN_OR_RETURN(StoredPart vae, parts.Get(FilePart::kVae));
  DividedParts divided = {std::move(transformer), std::move(vae), {}};
  if (values == Values::kStored) divided.peers = options.peers;
  return divided;
}

absl::StatusOr<AdaptableTransformer> LoadTransformer(DividedParts& divided,
                                                     const LoadOptions& options,
                                                     const Holding& holding) {
  const StoredPart& part = divided.transformer;
  REEL_ASSIGN_OR_RETURN(const TransformerConfig config,
                        ReadTransformerConfig(part.config, part.source));
  REEL_ASSIGN_OR_RETURN(std::unique_ptr<AdapterRoom> room, AdapterRoomOf(options));
  const FittedLoad held = holding.fitted.InForm(options.weights_form);
  StandBehindWeights(room.get(), holding.device, holding.dtype, held);
  REEL_ASSIGN_OR_RETURN(
      Transformer transformer,
      Transformer::Load(part.weights, config, holding.dtype, holding.place, held,
                        {.shared = divided.Shared(divided.of_transformer), .room = room.get()}));
  REEL_ASSIGN_OR_RETURN(std::unique_ptr<AdapterShelf> shelf,
                        AdapterShelf::Of(std::move(room), AdapterFamily::kLtx2));
  return AdaptableTransformer{std::move(transformer), std::move(shelf)};
}

absl::StatusOr<Connectors> LoadConnectors(const StoredPart& part, at::ScalarType dtype,
                                          at::Device place, std::shared_ptr<LayerRing> ring) {
  REEL_ASSIGN_OR_RETURN(const ConnectorsConfig config,
                        ReadConnectorsConfig(part.config, part.source));
  return Connectors::Load(part.weights, config, kMostTextTokens, dtype, place, std::move(ring));
}

absl::StatusOr<GemmaEncoder> LoadTextEncoder(const ModelParts& parts, at::ScalarType dtype,
                                             at::Device place, std::shared_ptr<LayerRing> ring,
                                             WeightsForm form) {
  REEL_ASSIGN_OR_RETURN(const StoredPart part, parts.TextEncoder());
  REEL_ASSIGN_OR_RETURN(const GemmaConfig config, ReadGemmaConfig(part.config, part.source));
  return GemmaEncoder::Load(part.weights, config, dtype, place, std::move(ring), form);
}

struct Vae {
  VaeConfig config;
  VaeEncoder encoder;
  VaeDecoder decoder;
  LatentStatistics statistics;
  int64_t parameters, bytes;
  std::optional<DiffusionDecoder> diffusion_decoder = {};
};

// Its statistics of latents are the autoencoder's, which are taken.
absl::Status AddDiffusionDecoder(const ModelParts& parts, const LoadOptions& options,
                                 at::ScalarType dtype, at::Device place, Vae& vae) {
  REEL_ASSIGN_OR_RETURN(const StoredPart part, parts.DiffusionDecoder());
  REEL_ASSIGN_OR_RETURN(const DiffusionDecoderConfig config,
                        ReadDiffusionDecoderConfig(part.config, part.source));
  REEL_RETURN_IF_ERROR(CheckDiffusionDecoder(config, vae.config, options.path));
  Weights weights(part.weights, dtype, place);
  vae.diffusion_decoder.emplace(weights, config);
  for (const char* name : {"latents_mean", "latents_std"}) weights.Skip(name);
  REEL_RETURN_IF_ERROR(weights.Finish());
  vae.parameters += weights.parameters();
  vae.bytes += weights.bytes();
  return absl::OkStatus();
}

absl::StatusOr<Vae> LoadVae(const StoredPart& part, at::ScalarType dtype, at::Device place,
                            TensorsByName* shared, std::shared_ptr<LayerRing> ring) {
  REEL_ASSIGN_OR_RETURN(const VaeConfig config, ReadVideoVaeConfig(part.config, part.source));
  Weights weights(part.weights, dtype, place, shared);
  Vae vae = {
      config, VaeEncoder(weights, config, std::move(ring)), VaeDecoder(weights, config), {}, 0, 0};
  vae.statistics = TakeStatistics(weights, config, at::kFloat);
  REEL_RETURN_IF_ERROR(weights.Finish());
  vae.parameters = weights.parameters();
  vae.bytes = weights.bytes();
  return vae;
}

// Gives the other devices their parts, and up all that layers of the first one were put together
// from, before the text encoder comes.
absl::StatusOr<LoadedPeers<Transformer>> LoadOthers(DividedParts divided, const Holding& holding,
                                                    const Transformer& first) {
  const FittedLoad held = FittedLoad().InForm(first.form());
  const auto load = [&](at::Device device) -> absl::StatusOr<PeerParts<Transformer>> {
    REEL_ASSIGN_OR_RETURN(
        Transformer transformer,
        Transformer::Load(divided.transformer.weights, first.config(), holding.dtype, device, held,
                          {.shared = &divided.of_transformer}));
    REEL_ASSIGN_OR_RETURN(Vae vae,
                          LoadVae(divided.vae, holding.dtype, device, &divided.of_vae, nullptr));
    return PeerParts<Transformer>{std::move(transformer), std::move(vae.decoder)};
  };
  return LoadPeers<Transformer>(holding.device, divided.peers, load);
}

absl::StatusOr<std::optional<LatentUpsampler>> LoadUpsampler(const LoadOptions& options,
                                                             const SchedulerConfig& scheduler,
                                                             const Vae& vae, at::ScalarType dtype,
                                                             at::Device place) {
  if (scheduler.use_dynamic_shifting) return std::nullopt;
  return FindUpsampler(options, ReadUpsamplerConfig, vae.config.latent_channels, dtype, place);
}

absl::StatusOr<SoundOutput> LoadSound(const ModelParts& parts, at::ScalarType dtype,
                                      at::Device place) {
  REEL_ASSIGN_OR_RETURN(const StoredPart vae, parts.Get(FilePart::kAudioVae));
  REEL_ASSIGN_OR_RETURN(const StoredPart vocoder, parts.Get(FilePart::kVocoder));
  REEL_ASSIGN_OR_RETURN(const AudioVaeConfig vae_config,
                        ReadAudioVaeConfig(vae.config, vae.source));
  REEL_ASSIGN_OR_RETURN(const VocoderConfig vocoder_config,
                        ReadVocoderConfig(vocoder.config, vocoder.source));
  REEL_ASSIGN_OR_RETURN(AudioVae audio_vae, AudioVae::Load(vae.weights, vae_config, dtype, place));
  REEL_ASSIGN_OR_RETURN(Vocoder generator, Vocoder::Load(vocoder.weights, vocoder_config, place));
  return SoundOutput::Join(std::move(audio_vae), std::move(generator));
}

// All that latents become.
struct Outputs {
  SoundOutput sound;
  Vae vae;
  std::optional<LatentUpsampler> upsampler;
};

absl::StatusOr<Outputs> LoadOutputs(const ModelParts& parts, const LoadOptions& options,
                                    const SchedulerConfig& scheduler, const Holding& holding,
                                    DividedParts& divided) {
  const auto& [dtype, device, place, fitted] = holding;
  REEL_ASSIGN_OR_RETURN(SoundOutput sound, LoadSound(parts, dtype, place));
  REEL_ASSIGN_OR_RETURN(Vae vae, LoadVae(divided.vae, dtype, place, divided.Shared(divided.of_vae),
                                         fitted.encoder_ring()));
  if (!options.decoder.empty()) {
    REEL_RETURN_IF_ERROR(AddDiffusionDecoder(parts, options, dtype, place, vae));
  }
  REEL_ASSIGN_OR_RETURN(std::optional<LatentUpsampler> upsampler,
                        LoadUpsampler(options, scheduler, vae, dtype, place));
  return Outputs{std::move(sound), std::move(vae), std::move(upsampler)};
}

// The model itself.
std::vector<ListedFile> OwnFiles(const LoadOptions& options) {
  const std::filesystem::path path = options.path;
  if (IsFile(options.path)) return {{path.filename().string(), options.path}};
  return FilesOf(options.path,
                 {"audio_vae", "connectors", "scheduler", "transformer", "vae", "vocoder"});
}

std::vector<ListedFile> DiffusionDecoderFiles(const LoadOptions& options) {
  if (options.decoder.empty()) return {};
  return FilesOf(DiffusionDecoderRoot(options), {kDiffusionDecoderFolder});
}

// Before anything of the files is read. The sum of them all; empty without a manifest.
absl::StatusOr<std::string> VerifyModel(const LoadOptions& options) {
  REEL_RETURN_IF_ERROR(CheckRandomWeights(options));
  if (options.manifest_file.empty()) return "";
  std::vector<ListedFile> files;
  for (const auto& part :
       {FilesOf(TextFolderOf(options), {"text_encoder", "tokenizer"}), OwnFiles(options),
        DiffusionDecoderFiles(options), UpsamplerFiles(options), PartFilesOf(options)}) {
    files.insert(files.end(), part.begin(), part.end());
  }
  return VerifyFiles(options.manifest_file, files);
}

absl::Status CheckPartFiles(const LoadOptions& options) {
  return CheckPartsOf(options,
                      {ModelPart::kTransformer, ModelPart::kVae, ModelPart::kAudioVae,
                       ModelPart::kTextEncoder, ModelPart::kConnectors, ModelPart::kUpsampler});
}

}  // namespace

absl::StatusOr<std::vector<PictureCondition>> Ltx2Model::ConditionsOf(
    const GenerationSpec& spec, const LatentShape& pass) const {
  const int64_t side = vae_config.spatial_compression;
  const auto scale = ReferenceScaleOf(spec);
  if (scale && (pass.width % scale->sides != 0 || pass.height % scale->sides != 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the video's sides are no multiples of those of its reference clip: a pass is ",
        pass.width * side, "x", pass.height * side, ", the clip has 1/", scale->sides,
        " of that, in steps of ", side));
  }
  const PictureSize size = {static_cast<int>(pass.width * side),
                            static_cast<int>(pass.height * side)};
  return reel::model::ConditionsOf(spec, size, static_cast<int>(vae_config.temporal_compression),
                                   dtype, ConditionPlaces::kFirstOfALatent);
}

WeightSizes SizesOf(const Ltx2Model& model) {
  const StreamableBytes connectors = model.prompts.connectors().layer_bytes();
  WeightSizes sizes = NetworkSizes(model);
  sizes.text_layer = std::max(sizes.text_layer, connectors.largest);
  sizes.connector_layers = connectors.all;
  sizes.connector_rest = std::max<int64_t>(model.prompts.connectors().bytes() - connectors.all, 0);
  sizes.autoencoders = std::max<int64_t>(
      model.bytes - model.prompts.bytes() - model.transformer.bytes() - sizes.encoder_layers, 0);
  return sizes;
}

absl::StatusOr<std::unique_ptr<Ltx2Model>> LoadLtx2Model(const LoadOptions& options,
                                                         at::Device device, Values values,
                                                         const FittedLoad& fitted) {
  REEL_ASSIGN_OR_RETURN(const at::ScalarType dtype, DtypeOf(options, device));
  const at::Device place = values == Values::kNone ? at::Device(at::kMeta) : device;
  REEL_ASSIGN_OR_RETURN(const std::string weights_sha256, VerifyModel(options));
  REEL_RETURN_IF_ERROR(CheckPartFiles(options));
  REEL_ASSIGN_OR_RETURN(const ModelParts parts, ModelParts::Open(options));
  REEL_ASSIGN_OR_RETURN(const SchedulerConfig scheduler, parts.Scheduler());
  const Holding holding = {dtype, device, place, fitted};
  REEL_ASSIGN_OR_RETURN(DividedParts divided, DividedOf(parts, options, values));
  REEL_ASSIGN_OR_RETURN(StoredPart connectors_part, parts.Get(FilePart::kConnectors));
  REEL_ASSIGN_OR_RETURN(std::vector<FixedAdapter> adapters,
                        AddTo(divided.transformer, connectors_part, options));
  // The small parts first, so that what is wrong with them is said before the large ones are read.
  REEL_ASSIGN_OR_RETURN(Outputs outputs, LoadOutputs(parts, options, scheduler, holding, divided));
  auto& [sound, vae, upsampler] = outputs;
  REEL_ASSIGN_OR_RETURN(Connectors connectors,
                        LoadConnectors(connectors_part, dtype, place, fitted.text_ring()));
  REEL_ASSIGN_OR_RETURN(BpeTokenizer tokenizer, parts.Tokenizer());
  REEL_ASSIGN_OR_RETURN(AdaptableTransformer adaptable, LoadTransformer(divided, options, holding));
  Transformer& transformer = adaptable.transformer;
  REEL_RETURN_IF_ERROR(CheckConnectors(connectors.config(), transformer.config()));
  REEL_RETURN_IF_ERROR(CheckVideo(vae.config, transformer.config(), options.path));
  REEL_RETURN_IF_ERROR(CheckSound(sound.vae().config(), transformer.config(), options.path));
  REEL_ASSIGN_OR_RETURN(LoadedPeers<Transformer> others,
                        LoadOthers(std::move(divided), holding, transformer));
  REEL_ASSIGN_OR_RETURN(
      GemmaEncoder encoder,
      LoadTextEncoder(parts, dtype, place, fitted.text_ring(), options.text_form));
  REEL_RETURN_IF_ERROR(
      CheckText(encoder.config(), tokenizer.size(), connectors.config(), options.path));
  Prompts prompts(std::move(tokenizer), std::move(encoder), std::move(connectors),
                  kPromptMemoryBytes);
  const int64_t parameters = prompts.parameters() + transformer.parameters() + vae.parameters +
                             sound.parameters() + (upsampler ? upsampler->parameters() : 0);
  const int64_t bytes = prompts.bytes() + transformer.bytes() + vae.bytes + sound.bytes() +
                        (upsampler ? upsampler->bytes() : 0);
  return std::make_unique<Ltx2Model>(
      Ltx2Model{.dtype = dtype,
                .device = device,
                .scheduler = scheduler,
                .prompts = std::move(prompts),
                .transformer = std::move(transformer),
                .vae_config = vae.config,
                .encoder = std::move(vae.encoder),
                .decoder = std::move(vae.decoder),
                .diffusion_decoder = std::move(vae.diffusion_decoder),
                .statistics = vae.statistics,
                .sound = std::move(sound),
                .upsampler = std::move(upsampler),
                .parameters = parameters,
                .bytes = bytes,
                .weights_sha256 = SumWithAdapters(weights_sha256, adapters),
                .adapters = std::move(adapters),
                .adapter_shelf = std::move(adaptable.shelf),
                .crew = others.NewCrew(),
                .peers = std::move(others.parts)});
}

}  // namespace reel::model::ltx2
