// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/presets.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "model/ltx2/ltx2_model.h"

namespace reel::model::ltx2 {
namespace {

constexpr char kNegativePrompt[] = "worst quality, inconsistent motion, blurry, jittery, distorted";
constexpr double kDistilledSteps[] = {1000, 993.75, 987.5, 981.25, 975, 909.375, 725, 421.875};
constexpr double kSecondPassSteps[] = {909.375, 725, 421.875};
constexpr char kTwoPass[] = "-two-pass";
// As strongly as the clips that models were trained on are compressed.
constexpr int kConditionCrf = 33, kConditionCrf2_5 = 18;
constexpr int64_t kPerturbedBlock = 28;  // of 48

struct Release {
  const char* name;
  Version version;
  bool is_distilled = false;
  int steps = 0;  // of those that are not distilled
  Sampler sampler = Sampler::kEuler;
};

constexpr Release kReleases[] = {
    {.name = "19b-2.0-dev", .version = Version::k2_0, .steps = 40},
    {.name = "19b-2.0-distilled", .version = Version::k2_0, .is_distilled = true},
    {.name = "22b-2.3-dev", .version = Version::k2_3, .steps = 30},
    {.name = "22b-2.3-distilled", .version = Version::k2_3, .is_distilled = true},
    {.name = "22b-2.5-dev", .version = Version::k2_5, .steps = 30},
    {.name = "22b-2.5-distilled",
     .version = Version::k2_5,
     .is_distilled = true,
     .sampler = Sampler::kAncestralEuler},
};

void SetGuidance(const ModelTraits& traits, GenerationSpec& spec) {
  spec.guidance_scale = 3;
  spec.guidance_rescale = 0.7;
  spec.modality_scale = 3;
  spec.audio_guidance_scale = 7;
  spec.audio_guidance_rescale = 0.7;
  spec.audio_modality_scale = 3;
  spec.stg_scale = traits.perturbs ? 1 : 0;
  spec.audio_stg_scale = spec.stg_scale;
  if (!traits.perturbs) return;
  // A smaller model's last one.
  spec.stg_blocks = {static_cast<int>(std::min(kPerturbedBlock, traits.layers - 1))};
}

// The same steps before an upsampler that makes so much of a side.
Preset InTwoPasses(Preset preset, Ratio upsampled) {
  preset.name += kTwoPass;
  preset.passes = {{.sides = {upsampled.denominator, upsampled.numerator}},
                   {.steps = static_cast<int>(std::size(kSecondPassSteps)),
                    .sides = upsampled,
                    .guided = false,
                    .timesteps = {std::begin(kSecondPassSteps), std::end(kSecondPassSteps)}}};
  return preset;
}

// Null where the preset is none of those, in one pass or in two.
const Release* ReleaseOf(const GenerationSpec& spec) {
  const auto* const end = std::end(kReleases);
  const auto* const release = std::find_if(std::begin(kReleases), end, [&](const Release& known) {
    return spec.preset == known.name || spec.preset == std::string(known.name) + kTwoPass;
  });
  return release == end ? nullptr : release;
}

}  // namespace

GenerationSpec DefaultsFor(const ModelTraits& traits) {
  GenerationSpec spec;
  spec.width = 768;
  spec.height = 512;
  spec.num_frames = 121;
  spec.frame_rate = 24;
  spec.num_inference_steps = 30;
  spec.max_text_tokens = kMostTextTokens;
  spec.condition_crf = traits.version == Version::k2_5 ? kConditionCrf2_5 : kConditionCrf;
  if (!traits.is_distilled) SetGuidance(traits, spec);
  return spec;
}

std::vector<Preset> PresetsFor(const ModelTraits& traits) {
  std::vector<Preset> presets;
  for (const Release& release : kReleases) {
    if (release.version != traits.version || release.is_distilled != traits.is_distilled) {
      continue;
    }
    Preset preset;
    preset.name = release.name;
    if (release.is_distilled) {
      preset.values.timesteps = {std::begin(kDistilledSteps), std::end(kDistilledSteps)};
    } else {
      preset.values.negative_prompt = kNegativePrompt;
      preset.values.num_inference_steps = release.steps;
      SetGuidance(traits, preset.values);
    }
    presets.push_back(preset);
    if (release.is_distilled && traits.upsampled.has_value()) {
      presets.push_back(InTwoPasses(preset, *traits.upsampled));
    }
  }
  return presets;
}

StreamGuidance GuidanceOf(const GenerationSpec& spec) {
  StreamGuidance guidance;
  DeltaGuidance& video = guidance.video;
  video.scale = spec.guidance_scale.value_or(1);
  video.rescale = spec.guidance_rescale.value_or(0);
  video.perturbed_scale = spec.stg_scale.value_or(0);
  video.isolated_scale = spec.modality_scale.value_or(1);
  guidance.audio.scale = AudioScale(spec.audio_guidance_scale, video.scale);
  guidance.audio.rescale = AudioScale(spec.audio_guidance_rescale, video.rescale);
  guidance.audio.perturbed_scale = AudioScale(spec.audio_stg_scale, video.perturbed_scale);
  guidance.audio.isolated_scale = AudioScale(spec.audio_modality_scale, video.isolated_scale);
  guidance.perturbed_blocks = {spec.stg_blocks.begin(), spec.stg_blocks.end()};
  return guidance;
}

Sampler SamplerOf(const GenerationSpec& spec) {
  const Release* release = ReleaseOf(spec);
  return release == nullptr ? Sampler::kEuler : release->sampler;
}

bool MarksBeginnings(const GenerationSpec& spec) {
  const Release* release = ReleaseOf(spec);
  return release != nullptr && release->version == Version::k2_5;
}

std::vector<double> SecondPassOf(const GenerationSpec& spec) {
  const Release* release = ReleaseOf(spec);
  if (release == nullptr || spec.preset == release->name) return {};
  return {std::begin(kSecondPassSteps), std::end(kSecondPassSteps)};
}

}  // namespace reel::model::ltx2
