// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/ltx2_card.h"

#include <algorithm>
#include <optional>

#include "kernels/attention/tile_layout.h"
#include "kernels/dispatch/kernel_profiles.h"
#include "model/layers/load_dtype.h"
#include "model/ltx2/presets.h"
#include "model/ltx2/video_vae_config.h"
#include "model/pass_work.h"

namespace reel::model::ltx2 {
namespace {

std::string FamilyOf(Version version) {
  switch (version) {
    case Version::k2_0:
      return "LTX-2.0";
    case Version::k2_3:
      return "LTX-2.3";
    case Version::k2_5:
      break;
  }
  return "LTX-2.5";
}

constexpr int64_t kLibraries = int64_t{64} << 20;  // whatever the size
// Tensors as wide as a call's tokens that a block has at once. They are its input, the norm of
// that, the product of queries, keys and values, queries and keys again, and heads in two layouts.
constexpr int64_t kBlockTensors = 9;
// Of the decoder for each pixel of a frame: it makes the frames of one latent at a time. Films of
// 2.3 in bf16 took 0.95 GB at 768x512x121 and 4.7 GB at 1920x1088x121 (one H200, 2026-11-28). A
// block's tensors come to half of that, so all of it is taken for the decode's.
constexpr int64_t kFramePixelNumbers = 1100;
// The calls of guidance come one after the other; only the texts' has two rows.
constexpr int64_t kRowsAtOnce = 2;

std::optional<Ratio> UpsampledBy(const std::optional<LatentUpsampler>& upsampler) {
  if (!upsampler.has_value()) return std::nullopt;
  const UpsamplerConfig& config = upsampler->config();
  return Ratio{static_cast<int>(config.grow), static_cast<int>(config.shrink)};
}

ModelLimits LimitsOf(const Ltx2Model& model, const ModelTraits& traits) {
  ModelLimits limits;
  limits.min_size =
      static_cast<int>(LeastLatentSide(model.vae_config) * model.vae_config.spatial_compression);
  limits.max_size = 3840;
  limits.max_frames = 481;
  if (model.diffusion_decoder.has_value()) {
    const LatentShape least = model.diffusion_decoder->config().Least();
    const int64_t side = std::max(least.height, least.width) * model.vae_config.spatial_compression;
    limits.min_size = std::max(limits.min_size, static_cast<int>(side));
    limits.min_frames =
        static_cast<int>((least.frames - 1) * model.vae_config.temporal_compression) + 1;
  }
  limits.max_latent_tokens = 65'536;
  limits.max_frame_rate = 60;
  limits.max_text_tokens = kMostTextTokens;
  limits.stg_blocks = traits.perturbs && !traits.is_distilled ? static_cast<int>(traits.layers) : 0;
  return limits;
}

}  // namespace

MemoryCosts MemoryOf(const TransformerConfig& config, int64_t number_bytes) {
  constexpr int64_t kTexts = 2, kLatents = 4;  // latents in fp32: three of them, and their velocity
  const int64_t text_numbers = kMostTextTokens * (config.video.width() + config.audio.width());
  return {.job = kLibraries + kTexts * text_numbers * number_bytes,
          .token = kLatents * config.video.channels * static_cast<int64_t>(sizeof(float)),
          .step_row = kBlockTensors * config.video.width() * number_bytes,
          .frame_pixel = kFramePixelNumbers * number_bytes,
          .rows_at_once = kRowsAtOnce};
}

namespace {

MemoryCosts MemoryOf(const Ltx2Model& model) {
  const auto number_bytes = static_cast<int64_t>(c10::elementSize(model.dtype));
  MemoryCosts costs = MemoryOf(model.transformer.config(), number_bytes);
  costs.encode_pixel = EncoderPixelNumbers(model.vae_config) * number_bytes;
  if (model.upsampler.has_value()) {
    costs.upsample_token = model.upsampler->config().TokenNumbers() * number_bytes;
  }
  if (model.diffusion_decoder.has_value()) {
    costs.frame_pixel = model.diffusion_decoder->config().PixelNumbers() * number_bytes;
  }
  return costs;
}

}  // namespace

ModelCard CardOf(const Ltx2Model& model, const std::string& name) {
  const TransformerConfig& config = model.transformer.config();
  const ModelTraits traits = {.version = config.version(),
                              .is_distilled = model.is_distilled(),
                              .perturbs = config.perturbs,
                              .layers = config.num_layers,
                              .upsampled = UpsampledBy(model.upsampler)};
  ModelCard card;
  card.name = name;
  card.family = FamilyOf(traits.version);
  card.weights_sha256 = model.weights_sha256;
  card.fixed_adapters = model.adapters;
  card.parameters = model.parameters;
  card.weight_bytes = model.bytes;
  card.text_form = model.prompts.encoder().form();
  if (model.adapter_shelf != nullptr) {
    const AdapterRoom& room = model.adapter_shelf->columns().room();
    card.adapter_ranks = static_cast<int>(room.columns());
    card.weight_bytes += room.bytes();
  }
  card.spatial_multiple = static_cast<int>(model.vae_config.spatial_compression);
  card.temporal_multiple = static_cast<int>(model.vae_config.temporal_compression);
  card.limits = LimitsOf(model, traits);
  card.defaults = DefaultsFor(traits);
  card.presets = PresetsFor(traits);
  card.supports_conditions = true;
  card.takes_references = true;
  card.sound = model.sound.format();
  const AudioVaeConfig& spectrum = model.sound.vae().config();
  card.own_sound = {static_cast<int>(spectrum.sample_rate), static_cast<int>(spectrum.channels)};
  card.memory = MemoryOf(model);
  if (model.diffusion_decoder.has_value()) card.decoder = kDiffusionDecoder;
  // One job's matrices fill a CPU.
  card.steps_alone = model.device.is_cpu();
  const bool has_int8 = TakesLayersIn(config, RowForm::kInt8);
  const bool has_e4m3 = TakesLayersIn(config, RowForm::kE4m3);
  if (has_int8) card.lossy_profiles.emplace_back(kernels::kInt8Profile);
  if (has_e4m3) card.lossy_profiles.emplace_back(kernels::kFp8Profile);
  if (config.num_layers > 2 && kernels::HasKeyTiles(config.video.head_dim)) {
    if (has_int8) card.lossy_profiles.emplace_back(kernels::kInt8AllProfile);
    card.lossy_profiles.emplace_back(kernels::kFp8AttentionProfile);
    if (has_e4m3) card.lossy_profiles.emplace_back(kernels::kFp8AllProfile);
    if (has_e4m3 && HasLaterPasses(card)) {
      card.lossy_profiles.emplace_back(kernels::kRoutedProfile);
    }
  }
  const std::string dtype = DtypeName(model.dtype);
  for (const char* op : {"rms_norm", "qk_norm_rope", "adaln_rms_norm", "adaln_layer_norm",
                         "gate_residual", "head_gate", "linear", "linear_gelu"}) {
    card.calls.push_back({op, dtype, config.video.width()});
  }
  for (const char* op : {"channel_norm_silu", "conv3d"}) {
    card.calls.push_back({op, dtype, model.vae_config.decoder_out});
  }
  if (card.adapter_ranks > 0) card.calls.push_back({"low_rank_rows", dtype, config.video.width()});
  if (has_e4m3) card.calls.push_back({"quantize_rows", dtype, config.video.width()});
  if (has_int8) card.calls.push_back({"int8_rows", dtype, config.video.width()});
  return card;
}

}  // namespace reel::model::ltx2
