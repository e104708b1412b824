// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/ltx_card.h"

#include "absl/strings/str_cat.h"
#include "kernels/attention/tile_layout.h"
#include "kernels/dispatch/kernel_profiles.h"
#include "kernels/int8_rows/int8_rows.h"
#include "model/bridge/rows.h"
#include "model/denoise/step_cache.h"
#include "model/layers/load_dtype.h"
#include "model/ltx/presets.h"
#include "model/pass_work.h"

namespace reel::model::ltx {
namespace {

// Those of diffusers' pipeline calls, to the letter; what the releases recommend is in presets.h.
GenerationSpec Defaults() {
  GenerationSpec spec;
  spec.width = 704;
  spec.height = 512;
  spec.num_frames = 161;
  spec.frame_rate = 25;
  spec.num_inference_steps = 50;
  spec.guidance_scale = 3;
  spec.guidance_rescale = 0;
  spec.denoise_strength = 1;
  spec.image_condition_noise_scale = 0.15;
  spec.decode_timestep = 0;
  spec.decode_noise_scale = 0;
  spec.cache = {.threshold = kCacheThreshold, .most_reused = kCacheMostReused};
  return spec;
}

constexpr int64_t kWidthOf13b = 4096;
// Measured with the 2B shape in bf16 on one H100, 2026-11-25, at five sizes from 256x256x25 to
// 1536x1536x97. First what libraries take at any size, then how many tensors as large as its tokens
// a step has at once. The last two are numbers of the decoder's type: for each pixel of the clip,
// and for each that the late layers make at once (ltx_pipeline.cc).
constexpr int64_t kLibraries = int64_t{128} << 20, kStepTensors = 21;
constexpr int64_t kClipPixelNumbers = 6, kLatePixelNumbers = 32;
constexpr int64_t kLatePixels = int64_t{16} << 20;

ModelTraits TraitsOf(const LtxModel& model) {
  const TransformerConfig& config = model.transformer.config();
  return {.version = model.version,
          .is_13b = config.width() >= kWidthOf13b,
          .layers = config.num_layers,
          .has_upsampler = model.upsampler.has_value()};
}

// A formula, until jobs were measured. It adds texts of a usual length with and without guidance,
// keys and values in each block, and three latents in fp32 with their velocity. Then come a step's
// tensors of the size of its tokens, and what the decoder's late and early layers have at once.
MemoryCosts MemoryOf(const LtxModel& model) {
  constexpr int64_t kTexts = 2, kTextTokens = 128, kLatents = 4;
  const TransformerConfig& config = model.transformer.config();
  const auto size = static_cast<int64_t>(c10::elementSize(model.dtype));
  return {.job = kLibraries + kTexts * kTextTokens * config.num_layers * 2 * config.width() * size,
          .token = kLatents * config.in_channels * static_cast<int64_t>(sizeof(float)),
          .step_row = kStepTensors * config.width() * size,
          .clip_pixel = kClipPixelNumbers * size,
          .decode_pixel = kLatePixelNumbers * size,
          .decode_pixels_at_once = kLatePixels,
          .encode_pixel = EncoderPixelNumbers(model.vae_config) * size,
          .upsample_token =
              model.upsampler.has_value() ? model.upsampler->config().TokenNumbers() * size : 0};
}

}  // namespace

ModelCard CardOf(const LtxModel& model, const std::string& name) {
  const TransformerConfig& config = model.transformer.config();
  ModelCard card;
  card.name = name;
  card.family = absl::StrCat("LTX-Video ", model.version);
  card.weights_sha256 = model.weights_sha256;
  card.fixed_adapters = model.adapters;
  card.parameters = model.parameters;
  card.weight_bytes = model.parameters * static_cast<int64_t>(c10::elementSize(model.dtype));
  card.text_form = model.prompts.encoder().form();
  if (model.adapter_shelf != nullptr) {
    const AdapterRoom& room = model.adapter_shelf->columns().room();
    card.adapter_ranks = static_cast<int>(room.columns());
    card.weight_bytes += room.bytes();
  }
  card.defaults = Defaults();
  card.presets = PresetsFor(TraitsOf(model));
  card.supports_conditions = true;
  card.memory = MemoryOf(model);
  // One job's matrices fill a CPU; what jobs share there is a cache.
  card.steps_alone = model.device.is_cpu();
  const bool has_e4m3 = config.width() % kE4m3Sides == 0;
  const bool has_int8 = config.width() % kernels::kTurnedTogether == 0;
  if (has_int8) card.lossy_profiles.emplace_back(kernels::kInt8Profile);
  if (has_e4m3) card.lossy_profiles.emplace_back(kernels::kFp8Profile);
  if (kernels::HasKeyTiles(config.head_dim)) {
    if (has_int8) card.lossy_profiles.emplace_back(kernels::kInt8AllProfile);
    card.lossy_profiles.emplace_back(kernels::kFp8AttentionProfile);
    if (has_e4m3) card.lossy_profiles.emplace_back(kernels::kFp8AllProfile);
    if (has_e4m3 && HasLaterPasses(card)) {
      card.lossy_profiles.emplace_back(kernels::kRoutedProfile);
    }
  }
  card.lossy_profiles.emplace_back(kernels::kCacheProfile);
  const std::string dtype = DtypeName(model.dtype);
  for (const char* op : {"rms_norm", "qk_norm_rope", "adaln_rms_norm", "adaln_layer_norm",
                         "gate_residual", "gate_residual_adaln", "attention", "cross_attention",
                         "activation", "linear", "linear_gelu", "step_cache"}) {
    card.calls.push_back({op, dtype, config.width()});
  }
  for (const char* op : {"channel_norm_silu", "conv3d"}) {
    card.calls.push_back({op, dtype, model.vae_config.decoder_out});
  }
  if (card.adapter_ranks > 0) card.calls.push_back({"low_rank_rows", dtype, config.width()});
  if (has_e4m3) card.calls.push_back({"quantize_rows", dtype, config.width()});
  if (has_int8) card.calls.push_back({"int8_rows", dtype, config.width()});
  return card;
}

}  // namespace reel::model::ltx
