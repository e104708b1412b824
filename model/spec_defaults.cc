// SPDX-License-Identifier: Apache-2.0
#include "model/spec_defaults.h"

#include <optional>

namespace reel::model {
namespace {

constexpr int kPreviewSide = 256;
constexpr int kCrf = 18;  // visually lossless at these models' sizes
constexpr char kProfile[] = "auto";

template <typename T>
void Fill(T& field, const T& value) {
  if (field == T()) field = value;
}

}  // namespace

const Preset* FindPreset(const ModelCard& card, std::string_view name) {
  for (const Preset& preset : card.presets) {
    if (preset.name == name) return &preset;
  }
  return nullptr;
}

void FillFrom(GenerationSpec& spec, const GenerationSpec& values) {
  Fill(spec.negative_prompt, values.negative_prompt);
  Fill(spec.width, values.width);
  Fill(spec.height, values.height);
  Fill(spec.num_frames, values.num_frames);
  Fill(spec.frame_rate, values.frame_rate);
  if (spec.num_inference_steps == 0 && spec.timesteps.empty()) {
    spec.timesteps = values.timesteps;
    if (spec.timesteps.empty()) spec.num_inference_steps = values.num_inference_steps;
  }
  Fill(spec.guidance_scale, values.guidance_scale);
  Fill(spec.guidance_rescale, values.guidance_rescale);
  Fill(spec.audio_guidance_scale, values.audio_guidance_scale);
  Fill(spec.audio_guidance_rescale, values.audio_guidance_rescale);
  Fill(spec.stg_scale, values.stg_scale);
  Fill(spec.audio_stg_scale, values.audio_stg_scale);
  Fill(spec.modality_scale, values.modality_scale);
  Fill(spec.audio_modality_scale, values.audio_modality_scale);
  Fill(spec.stg_blocks, values.stg_blocks);
  Fill(spec.condition_crf, values.condition_crf);
  Fill(spec.normalise_loudness, values.normalise_loudness);
  Fill(spec.denoise_strength, values.denoise_strength);
  Fill(spec.image_condition_noise_scale, values.image_condition_noise_scale);
  Fill(spec.decode_timestep, values.decode_timestep);
  Fill(spec.decode_noise_scale, values.decode_noise_scale);
  Fill(spec.max_text_tokens, values.max_text_tokens);
  Fill(spec.encoding.codec, values.encoding.codec);
  Fill(spec.encoding.crf, values.encoding.crf);
  Fill(spec.encoding.speed, values.encoding.speed);
  Fill(spec.encoding.origin, values.encoding.origin);
}

void FillServerDefaults(GenerationSpec& spec, uint64_t fresh_seed) {
  Fill(spec.negative_prompt, std::optional<std::string>(""));
  Fill(spec.seed, std::optional<uint64_t>(fresh_seed));
  Fill(spec.kernels.profile, std::string(kProfile));
  Fill(spec.preview.max_side, kPreviewSide);
  Fill(spec.encoding.codec, VideoCodec::kH264);
  Fill(spec.encoding.crf, std::optional<int>(kCrf));
  Fill(spec.encoding.speed, EncodingSpeed::kVeryfast);
  for (Condition& condition : spec.conditions) {
    Fill(condition.strength, std::optional<double>(1.0));
    if (condition.bytes != nullptr) {
      condition.size_bytes = static_cast<int64_t>(condition.bytes->size());
    }
  }
}

}  // namespace reel::model
