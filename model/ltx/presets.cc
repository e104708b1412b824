// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/presets.h"

#include <algorithm>
#include <utility>

#include "absl/types/span.h"
#include "model/sampler/schedule.h"

namespace reel::model::ltx {
namespace {

constexpr char kNegativePrompt[] = "worst quality, inconsistent motion, blurry, jittery, distorted";
// The steps that distilled files allow, as their two passes take them.
constexpr double kDistilledFirst[] = {1000, 993.7, 987.5, 981.2, 975, 909.4, 725};
constexpr double kDistilledSecond[] = {1000, 909.4, 725, 421.9};
constexpr double kAllButTheFirst = 0.999;

// A release by its single-pass name, and which of the recipes it has. Fields left out have their
// default.
struct Release {
  const char* name;
  const char* version;  // of the autoencoder
  bool is_13b = false;
  bool is_small = false;  // made for 768x512 at 25 frames a second, the others for 1216x704 at 30
  bool is_distilled = false;
  int steps = 0;  // 0: the timesteps that distilled files allow
  double guidance_scale = 1, guidance_rescale = 0;
  bool has_perturbed = false;  // one pass with perturbed guidance
  bool has_two_passes = false;
  double tone_map = 0;  // between the passes
  int skipped = 0;      // first steps of the second, where it is not distilled
};

constexpr Release kReleases[] = {
    {.name = "2b-0.9.0",
     .version = "0.9.0",
     .is_small = true,
     .steps = 40,
     .guidance_scale = 3,
     .guidance_rescale = 0.7,
     .has_perturbed = true},
    {.name = "2b-0.9.1",
     .version = "0.9.1",
     .is_small = true,
     .steps = 40,
     .guidance_scale = 3,
     .guidance_rescale = 0.7,
     .has_perturbed = true},
    {.name = "2b-0.9.5",
     .version = "0.9.5",
     .is_small = true,
     .steps = 40,
     .guidance_scale = 3,
     .guidance_rescale = 0.7,
     .has_perturbed = true},
    {.name = "2b-0.9.6-dev",
     .version = "0.9.5",
     .steps = 40,
     .guidance_scale = 3,
     .guidance_rescale = 0.7,
     .has_perturbed = true},
    {.name = "2b-0.9.6-distilled", .version = "0.9.5", .is_distilled = true, .steps = 8},
    {.name = "2b-0.9.8-distilled",
     .version = "0.9.5",
     .is_distilled = true,
     .has_two_passes = true,
     .tone_map = 0.6},
    {.name = "13b-0.9.7-dev",
     .version = "0.9.5",
     .is_13b = true,
     .steps = 30,
     .guidance_scale = 5,
     .guidance_rescale = 0.7,
     .has_two_passes = true,
     .skipped = 3},
    {.name = "13b-0.9.7-distilled",
     .version = "0.9.5",
     .is_13b = true,
     .is_distilled = true,
     .has_two_passes = true},
    {.name = "13b-0.9.8-dev",
     .version = "0.9.5",
     .is_13b = true,
     .steps = 30,
     .guidance_scale = 5,
     .guidance_rescale = 0.7,
     .has_two_passes = true,
     .tone_map = 0.6,
     .skipped = 17},
    {.name = "13b-0.9.8-distilled",
     .version = "0.9.5",
     .is_13b = true,
     .is_distilled = true,
     .has_two_passes = true,
     .tone_map = 0.6},
};

constexpr char kPerturbed[] = "-stg", kTwoPass[] = "-two-pass";
constexpr int64_t kPerturbedBlock = 19;  // of the small models, in one pass
constexpr int kLayers2b = 28, kLayers13b = 48;
constexpr int kDevSteps = 30, kDevSkippedAtEnd = 3;

std::vector<double> ListOf(absl::Span<const double> values) {
  return {values.begin(), values.end()};
}

Preset SinglePass(const Release& release) {
  Preset preset;
  preset.name = release.name;
  GenerationSpec& values = preset.values;
  values.negative_prompt = kNegativePrompt;
  values.width = release.is_small ? 768 : 1216;
  values.height = release.is_small ? 512 : 704;
  values.frame_rate = release.is_small ? 25 : 30;
  values.guidance_scale = release.guidance_scale;
  values.guidance_rescale = release.guidance_rescale;
  if (release.steps == 0) {
    values.timesteps = ListOf(kDistilledFirst);
    values.timesteps.push_back(ListOf(kDistilledSecond).back());
  } else {
    values.num_inference_steps = release.steps;
  }
  if (std::string(release.version) != "0.9.0") {
    values.decode_timestep = 0.05;
    values.decode_noise_scale = 0.025;
  }
  return preset;
}

// The timesteps of so many steps, from `first` up to `end`.
std::vector<double> PartOfSchedule(int first, int end) {
  const std::vector<float> all = LinearQuadraticSchedule({}, kDevSteps)->timesteps;
  return {all.begin() + first, all.begin() + end};
}

// Of the large models' first pass: what is strong in the middle of the way and absent at its ends.
Guidance DevGuidance() {
  Guidance guidance;
  guidance.from = {1.0, 0.996, 0.9933, 0.985, 0.9767, 0.9008, 0.618};
  guidance.points = {{1, 0, 0, {}},
                     {1, 0, 0, {11, 25, 35, 39}},
                     {6, 0.5, 4, {22, 35, 39}},
                     {8, 0.5, 4, {28}},
                     {6, 0, 4, {28}},
                     {1, 0, 2, {28}},
                     {1, 0, 1, {28}}};
  guidance.star = true;
  return guidance;
}

Preset TwoPass(const Release& release) {
  Preset preset = SinglePass(release);
  preset.name += kTwoPass;
  GenerationSpec& values = preset.values;
  values.num_inference_steps = 0;
  values.image_condition_noise_scale = 0;
  if (release.is_distilled) {
    values.timesteps = ListOf(kDistilledFirst);
    return preset;
  }
  values.timesteps = PartOfSchedule(0, kDevSteps - kDevSkippedAtEnd);
  values.guidance_scale = 8;  // the strongest of DevGuidance
  values.guidance_rescale = 0.5;
  return preset;
}

SecondPass SecondPassOf(const Release& release) {
  SecondPass pass;
  pass.denoise_strength = kAllButTheFirst;
  pass.touch = {1, release.tone_map};
  if (release.is_distilled) {
    pass.timesteps = ListOf(kDistilledSecond);
    return pass;
  }
  pass.timesteps = PartOfSchedule(release.skipped, kDevSteps);
  pass.timesteps.insert(pass.timesteps.begin(), 1000.0);
  pass.guidance.points = {{1, 0, 1, {27}}};
  return pass;
}

// The list of a preset, as far as the request wants it.
void Follow(const GenerationSpec& spec, const GenerationSpec& preset, Guidance& guidance) {
  const double scale = spec.guidance_scale.value_or(1), peak = *preset.guidance_scale;
  const double rescale = spec.guidance_rescale.value_or(0) / *preset.guidance_rescale;
  for (GuidancePoint& point : guidance.points) {
    point.scale = 1 + (point.scale - 1) * std::max(0.0, (scale - 1) / (peak - 1));
    point.rescale *= rescale;
  }
}

// What a pass's rows come to, from how it is guided without a request's guidance and with it.
Pass PassGuidedBy(const Guidance& alone, const Guidance& guided) {
  Pass pass;
  pass.extra_rows = static_cast<int>(alone.most_rows()) - 1;
  pass.guided = guided.most_rows() > alone.most_rows();
  return pass;
}

// As the recipe has them, so that they are said once.
std::vector<Pass> PassesOf(const Preset& preset) {
  GenerationSpec spec = preset.values;
  spec.preset = preset.name;
  spec.guidance_scale = 1;
  const Recipe alone = RecipeOf(spec);
  spec.guidance_scale = 2;
  const Recipe guided = RecipeOf(spec);
  std::vector<Pass> passes = {PassGuidedBy(alone.guidance, guided.guidance)};
  if (alone.second_pass.has_value()) {
    const SecondPass& second = *alone.second_pass;
    passes[0].sides = kFirstPassSides;
    passes[0].by_strength = true;
    passes.push_back(PassGuidedBy(second.guidance, guided.second_pass->guidance));
    passes[1].sides = kSecondPassSides;
    const auto steps = static_cast<int>(second.timesteps.size());
    const int first = FirstStep(steps, second.denoise_strength);
    passes[1].steps = steps - first;
    passes[1].timesteps = {second.timesteps.begin() + first, second.timesteps.end()};
  }
  return passes == std::vector<Pass>(1) ? std::vector<Pass>() : passes;
}

}  // namespace

std::vector<Preset> PresetsFor(const ModelTraits& traits) {
  std::vector<Preset> presets;
  // What names blocks is for models that have them all.
  const bool is_whole = traits.layers == (traits.is_13b ? kLayers13b : kLayers2b);
  for (const Release& release : kReleases) {
    if (release.version != traits.version || release.is_13b != traits.is_13b) continue;
    presets.push_back(SinglePass(release));
    if (release.has_perturbed && is_whole) {
      presets.push_back(SinglePass(release));
      presets.back().name += kPerturbed;
    }
    if (release.has_two_passes && traits.has_upsampler && (release.is_distilled || is_whole)) {
      presets.push_back(TwoPass(release));
    }
  }
  for (Preset& preset : presets) preset.passes = PassesOf(preset);
  return presets;
}

Recipe RecipeOf(const GenerationSpec& resolved) {
  Recipe recipe;
  GuidancePoint& only = recipe.guidance.points[0];
  only.scale = resolved.guidance_scale.value_or(1);
  only.rescale = resolved.guidance_rescale.value_or(0);
  for (const Release& release : kReleases) {
    if (resolved.preset == std::string(release.name) + kPerturbed) {
      only.perturbed_scale = 1;
      only.blocks = {kPerturbedBlock};
    }
    if (resolved.preset == std::string(release.name) + kTwoPass) {
      recipe.second_pass = SecondPassOf(release);
      if (release.is_distilled) {
        recipe.second_pass->guidance = recipe.guidance;
        continue;
      }
      recipe.guidance = DevGuidance();
      Follow(resolved, TwoPass(release).values, recipe.guidance);
    }
  }
  return recipe;
}

}  // namespace reel::model::ltx
