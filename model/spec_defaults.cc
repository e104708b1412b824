// SPDX-License-Identifier: Apache-2.0
#include "model/spec_defaults.h"

#include <optional>

#include "model/spec_fields.h"

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
  const auto fill = [](const char*, auto& field, const auto& value) { Fill(field, value); };
  VisitDefaults(fill, spec, values);
  if (spec.num_inference_steps == 0 && spec.timesteps.empty()) {
    spec.timesteps = values.timesteps;
    if (spec.timesteps.empty()) spec.num_inference_steps = values.num_inference_steps;
  }
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
    if (!condition.is_refined()) Fill(condition.strength, std::optional<double>(1.0));
    if (condition.is_reference()) Fill(condition.attention_strength, std::optional<double>(1.0));
    if (condition.bytes != nullptr) {
      condition.size_bytes = static_cast<int64_t>(condition.bytes->size());
    }
  }
}

}  // namespace reel::model
