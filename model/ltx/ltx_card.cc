// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/ltx_card.h"

#include "absl/strings/str_cat.h"

namespace reel::model::ltx {
namespace {

constexpr char kNegativePrompt[] = "worst quality, inconsistent motion, blurry, jittery, distorted";

std::string DtypeName(at::ScalarType dtype) {
  if (dtype == at::kBFloat16) return "bf16";
  return dtype == at::kHalf ? "fp16" : "fp32";
}

// Those of diffusers' pipeline calls, to the letter; what the releases recommend is in the presets.
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
  return spec;
}

// What a release recommends, as far as it can be said with diffusers' pipelines: no perturbed
// guidance, and one pass instead of two with an upsampler between them.
struct Release {
  const char* name;
  const char* version;  // of the autoencoder
  bool is_13b;
  bool is_distilled;
  int steps;
  double guidance_scale, guidance_rescale;
};

constexpr Release kReleases[] = {
    {"2b-0.9.0", "0.9.0", false, false, 40, 3, 0.7},
    {"2b-0.9.1", "0.9.1", false, false, 40, 3, 0.7},
    {"2b-0.9.5", "0.9.5", false, false, 40, 3, 0.7},
    {"2b-0.9.6-dev", "0.9.5", false, false, 40, 3, 0.7},
    {"2b-0.9.6-distilled", "0.9.5", false, true, 8, 1, 0},
    {"2b-0.9.8-distilled", "0.9.5", false, true, 8, 1, 0},
    {"13b-0.9.7-dev", "0.9.5", true, false, 30, 5, 0.7},
    {"13b-0.9.7-distilled", "0.9.5", true, true, 8, 1, 0},
    {"13b-0.9.8-dev", "0.9.5", true, false, 30, 5, 0.7},
    {"13b-0.9.8-distilled", "0.9.5", true, true, 8, 1, 0},
};

constexpr int64_t kWidthOf13b = 4096;

// Up to 0.9.5 the models were made for smaller pictures.
bool IsSmall(const std::string& name) {
  return name == "2b-0.9.0" || name == "2b-0.9.1" || name == "2b-0.9.5";
}

Preset PresetOf(const Release& release) {
  Preset preset;
  preset.name = release.name;
  GenerationSpec& values = preset.values;
  values.negative_prompt = kNegativePrompt;
  values.width = IsSmall(preset.name) ? 768 : 1216;
  values.height = IsSmall(preset.name) ? 512 : 704;
  values.frame_rate = IsSmall(preset.name) ? 25 : 30;
  values.guidance_scale = release.guidance_scale;
  values.guidance_rescale = release.guidance_rescale;
  if (release.is_distilled && preset.name != "2b-0.9.6-distilled") {
    // The steps that the file allows, as its two passes take them together.
    values.timesteps = {1000, 993.7, 987.5, 981.2, 975, 909.4, 725, 421.9};
  } else {
    values.num_inference_steps = release.steps;
  }
  if (std::string(release.version) != "0.9.0") {
    values.decode_timestep = 0.05;
    values.decode_noise_scale = 0.025;
  }
  return preset;
}

// A folder does not say which release it is: all that have its parts.
std::vector<Preset> Presets(const LtxModel& model) {
  const bool is_13b = model.transformer.config().width() >= kWidthOf13b;
  std::vector<Preset> presets;
  for (const Release& release : kReleases) {
    if (release.version == model.version && release.is_13b == is_13b) {
      presets.push_back(PresetOf(release));
    }
  }
  return presets;
}

}  // namespace

ModelCard CardOf(const LtxModel& model, const std::string& name) {
  const TransformerConfig& config = model.transformer.config();
  ModelCard card;
  card.name = name;
  card.family = absl::StrCat("LTX-Video ", model.version);
  card.parameters = model.parameters;
  card.defaults = Defaults();
  card.presets = Presets(model);
  card.supports_conditions = true;
  const std::string dtype = DtypeName(model.dtype);
  for (const char* op :
       {"rms_norm", "qk_norm_rope", "adaln_rms_norm", "adaln_layer_norm", "gate_residual",
        "gate_residual_adaln", "attention", "cross_attention", "activation", "linear_gelu"}) {
    card.calls.push_back({op, dtype, config.width()});
  }
  card.calls.push_back({"channel_norm_silu", dtype, model.vae_config.decoder_out});
  return card;
}

}  // namespace reel::model::ltx
