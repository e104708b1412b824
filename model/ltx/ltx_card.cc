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

// Of diffusers' pipelines, but for the decoder's noise, which its documentation recommends.
GenerationSpec Defaults(const LtxModel& model) {
  GenerationSpec spec;
  spec.negative_prompt = kNegativePrompt;
  spec.width = 704;
  spec.height = 512;
  spec.num_frames = 161;
  spec.frame_rate = 25;
  spec.num_inference_steps = 50;
  spec.guidance_scale = 3;
  spec.guidance_rescale = 0;
  spec.denoise_strength = 1;
  spec.image_condition_noise_scale = 0.15;
  spec.decode_timestep = model.decoder.is_conditioned() ? 0.05 : 0;
  spec.decode_noise_scale = model.decoder.is_conditioned() ? 0.025 : 0;
  spec.max_text_tokens = 128;
  return spec;
}

Preset MakePreset(const char* name, int steps, double guidance, double rescale) {
  Preset preset;
  preset.name = name;
  preset.values.num_inference_steps = steps;
  preset.values.guidance_scale = guidance;
  preset.values.guidance_rescale = rescale;
  return preset;
}

// The settings that the releases recommend, as far as diffusers' pipelines have them.
std::vector<Preset> Presets(const LtxModel& model) {
  std::vector<Preset> presets = {MakePreset("quality", 50, 3, 0.7),
                                 MakePreset("standard", 40, 3, 0.7), MakePreset("draft", 20, 3, 0)};
  if (model.version != "0.9.5") return presets;
  Preset distilled = MakePreset("distilled", 0, 1, 0);
  distilled.values.timesteps = {1000, 993.7, 987.5, 981.2, 975, 909.4, 725, 421.9};
  presets.push_back(distilled);
  return presets;
}

}  // namespace

ModelCard CardOf(const LtxModel& model, const std::string& name) {
  const TransformerConfig& config = model.transformer.config();
  ModelCard card;
  card.name = name;
  card.family = absl::StrCat("LTX-Video ", model.version);
  card.parameters = model.parameters;
  card.defaults = Defaults(model);
  card.presets = Presets(model);
  card.supports_conditions = true;
  const std::string dtype = DtypeName(model.dtype);
  for (const char* op :
       {"rms_norm", "qk_norm_rope", "adaln_rms_norm", "adaln_layer_norm", "gate_residual",
        "gate_residual_adaln", "attention", "activation", "linear_gelu"}) {
    card.calls.push_back({op, dtype, config.width()});
  }
  card.calls.push_back({"channel_norm_silu", dtype, model.vae_config.decoder_out});
  return card;
}

}  // namespace reel::model::ltx
