// SPDX-License-Identifier: Apache-2.0
#include "model/spec_rules.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/dispatch/kernel_profiles.h"
#include "model/continuation_rules.h"
#include "model/own_sound.h"
#include "model/pass_work.h"
#include "model/reference_clip.h"
#include "model/refinement.h"

namespace reel::model {
namespace {

constexpr double kMaxTimestep = 1000;
constexpr int64_t kMostReused = 16;
constexpr int64_t kMostCrf = 51;
constexpr double kLeastLoudness = -70, kMostLoudness = -5;  // LUFS
constexpr char kNotSupported[] = "this model does not support it; nearest: leave it out";

// A reference clip has a part of the video's sides in every pass, in whole latents.
bool FitsReference(const char* field, int side, ViolationList::Grid grid, int part,
                   ViolationList& out) {
  if (part == 1) return true;
  grid.multiple *= part;
  ViolationList own;
  if (own.OnGrid(field, side, grid)) return true;
  out.Add(field, absl::StrCat(own.Take().front().description,
                              "; the adapter's reference clip has 1/", part, " of it"));
  return false;
}

// The most frames whose tokens fit, all else as it is; 0: none.
int FramesThatFit(GenerationSpec spec, const ModelCard& card) {
  for (; spec.num_frames > 0; spec.num_frames -= card.temporal_multiple) {
    const PassWork largest = LargestOf(AllPassesOf(spec, card));
    if (largest.tokens <= card.limits.max_latent_tokens) return spec.num_frames;
  }
  return 0;
}

// Size and length, and their product. `has_length`: no other field has told that it is wrong.
void CheckShape(const GenerationSpec& spec, const ModelCard& card, bool has_length,
                ViolationList& out) {
  const ModelLimits& limits = card.limits;
  const ViolationList::Grid side{SideMultiple(spec.preset, card), 0,
                                 std::max(limits.min_size, LeastSide(spec.preset, card)),
                                 limits.max_size};
  const auto scale = ReferenceScaleOf(spec, card);
  const int part = ReferenceClipOf(spec) != nullptr && scale ? scale->sides : 1;
  const bool width =
      out.OnGrid("width", spec.width, side) && FitsReference("width", spec.width, side, part, out);
  const bool height = out.OnGrid("height", spec.height, side) &&
                      FitsReference("height", spec.height, side, part, out);
  const bool refines = RefinedClipOf(spec) != nullptr;
  const int most_frames = refines ? MostRefinedFrames(spec, card) : limits.max_frames;
  const bool frames = has_length && out.OnGrid("num_frames", spec.num_frames,
                                               {card.temporal_multiple, 1,
                                                std::max(limits.min_frames, 1), most_frames});
  if (!width || !height || !frames) return;
  // A draft is refused if the video that it promises would be.
  const std::vector<PassWork> passes = refines ? PassesOf(spec, card) : AllPassesOf(spec, card);
  const PassWork& largest = LargestOf(passes);
  if (largest.tokens <= limits.max_latent_tokens) return;
  const int held = spec.is_extension() ? spec.source->extend.overlap_frames : 0;
  const int nearest = FramesThatFit(spec, card) - held;
  out.Add(
      held > 0 ? "source.extend.num_frames" : "num_frames",
      absl::StrCat(spec.num_frames, " frames of ", spec.width, "x", spec.height,
                   passes.size() == 1
                       ? ""
                       : absl::StrCat(", with a pass at ", largest.width, "x", largest.height, ","),
                   " are ", largest.tokens, " latent tokens, above ", limits.max_latent_tokens,
                   nearest > 0 ? absl::StrCat("; nearest: ", nearest) : "; choose a smaller size"));
}

void CheckTimesteps(const GenerationSpec& spec, const ModelLimits& limits, ViolationList& out) {
  const auto count = static_cast<int64_t>(spec.timesteps.size());
  if (!out.InRange("timesteps", count, int64_t{1}, int64_t{limits.max_steps})) return;
  for (size_t i = 0; i < spec.timesteps.size(); ++i) {
    const std::string field = absl::StrCat("timesteps[", i, "]");
    if (!out.InRange(field, spec.timesteps[i], 0.0, kMaxTimestep) || i == 0) continue;
    // NaN is reported first, by itself.
    if (spec.timesteps[i] >= spec.timesteps[i - 1]) {
      out.Add(field, absl::StrCat(spec.timesteps[i],
                                  " is not below the one before it; nearest: anything below ",
                                  spec.timesteps[i - 1]));
    }
  }
}

void CheckSchedule(const GenerationSpec& spec, const ModelLimits& limits, ViolationList& out) {
  if (spec.timesteps.empty()) {
    out.InRange("num_inference_steps", int64_t{spec.num_inference_steps}, int64_t{1},
                int64_t{limits.max_steps});
    return;
  }
  CheckTimesteps(spec, limits, out);
  if (spec.num_inference_steps != 0) {
    out.Add("num_inference_steps",
            absl::StrCat(spec.num_inference_steps, " steps and ", spec.timesteps.size(),
                         " timesteps are both set; nearest: leave num_inference_steps out"));
  }
}

// A model that does not use a field has no value for it either.
void CheckOptional(std::string_view field, std::optional<double> value, std::optional<double> known,
                   double high, ViolationList& out) {
  if (!value) return;
  if (!known) {
    out.Add(std::string(field), kNotSupported);
  } else {
    out.InRange(field, *value, 0.0, high);
  }
}

// Guidance beside the negative prompt's.
void CheckFurtherGuidance(const GenerationSpec& spec, const GenerationSpec& known,
                          const ModelLimits& limits, ViolationList& out) {
  const double most = limits.max_guidance_scale;
  CheckOptional("audio_guidance_scale", spec.audio_guidance_scale, known.audio_guidance_scale, most,
                out);
  CheckOptional("audio_guidance_rescale", spec.audio_guidance_rescale, known.audio_guidance_rescale,
                1, out);
  CheckOptional("stg_scale", spec.stg_scale, known.stg_scale, most, out);
  CheckOptional("audio_stg_scale", spec.audio_stg_scale, known.audio_stg_scale, most, out);
  CheckOptional("modality_scale", spec.modality_scale, known.modality_scale, most, out);
  CheckOptional("audio_modality_scale", spec.audio_modality_scale, known.audio_modality_scale, most,
                out);
}

void CheckLoudness(const GenerationSpec& spec, const ModelCard& card, ViolationList& out) {
  if (!spec.normalise_loudness) return;
  if (!card.sound.exists() || !spec.sound.value_or(true)) {
    return out.Add("normalise_loudness", "the video has no sound; nearest: leave it out");
  }
  out.InRange("normalise_loudness", *spec.normalise_loudness, kLeastLoudness, kMostLoudness);
}

void CheckStgBlocks(const std::vector<int>& blocks, int count, ViolationList& out) {
  if (blocks.empty()) return;
  if (count == 0) return out.Add("stg_blocks", kNotSupported);
  if (!out.InRange("stg_blocks", static_cast<int64_t>(blocks.size()), int64_t{1}, int64_t{count})) {
    return;
  }
  std::vector<int> seen;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const std::string field = absl::StrCat("stg_blocks[", i, "]");
    out.InRange(field, int64_t{blocks[i]}, int64_t{0}, int64_t{count} - 1);
    if (std::find(seen.begin(), seen.end(), blocks[i]) != seen.end()) {
      out.Add(field, absl::StrCat(blocks[i], " is there twice"));
    }
    seen.push_back(blocks[i]);
  }
}

// A lossy profile changes a model's layers; for a model without such layers it would do nothing.
void CheckProfile(const GenerationSpec& spec, const ModelCard& card, ViolationList& out) {
  const std::string& profile = spec.kernels.profile;
  const auto& known = card.lossy_profiles;
  if (!kernels::IsLossyProfile(profile)) return;
  if (std::find(known.begin(), known.end(), profile) != known.end()) return;
  out.Add("kernels.profile",
          absl::StrCat("this model does not support ", profile, "; nearest: leave it out"));
}

// Card and preset do not apply here: unset fields stay unset and mean the model's own.
void CheckCache(const CacheOptions& sent, const CacheOptions& known, ViolationList& out) {
  CheckOptional("cache.threshold", sent.threshold, known.threshold, 1, out);
  if (!sent.most_reused) return;
  if (!known.most_reused) {
    out.Add("cache.most_reused", kNotSupported);
  } else {
    out.InRange("cache.most_reused", int64_t{*sent.most_reused}, int64_t{0}, kMostReused);
  }
}

void CheckConditionsAgainstCard(const GenerationSpec& spec, const ModelCard& card,
                                ViolationList& out) {
  CheckOwnSound(spec, card, out);
  const int64_t pictures = NumPictures(spec);
  if (pictures == 0) return;
  if (!card.supports_conditions) {
    out.Add("conditions", absl::StrCat(pictures,
                                       pictures == static_cast<int64_t>(spec.conditions.size())
                                           ? " given"
                                           : " pictures and clips given",
                                       ", but this model does not support conditions; nearest: 0"));
    return;
  }
  if (spec.num_frames < 1) return;
  for (size_t i = 0; i < spec.conditions.size(); ++i) {
    if (spec.conditions[i].is_sound()) continue;
    out.InRange(absl::StrCat("conditions[", i, "].frame_index"),
                int64_t{spec.conditions[i].frame_index}, int64_t{0}, int64_t{spec.num_frames} - 1);
  }
}

}  // namespace

void CheckAgainstCard(const GenerationSpec& spec, const GenerationSpec& known,
                      const ModelCard& card, ViolationList& out) {
  const ModelLimits& limits = card.limits;
  // What a caller wrote comes first; an extension's length follows from it.
  const bool has_length = CheckHeld(spec, card, out);
  CheckShape(spec, card, has_length, out);
  out.InRange("frame_rate", spec.frame_rate, 1.0, limits.max_frame_rate);
  CheckSchedule(spec, limits, out);
  CheckOptional("guidance_scale", spec.guidance_scale, known.guidance_scale,
                limits.max_guidance_scale, out);
  CheckOptional("guidance_rescale", spec.guidance_rescale, known.guidance_rescale, 1, out);
  CheckFurtherGuidance(spec, known, limits, out);
  CheckStgBlocks(spec.stg_blocks, limits.stg_blocks, out);
  if (spec.condition_crf && !known.condition_crf) {
    out.Add("condition_crf", kNotSupported);
  } else if (spec.condition_crf) {
    out.InRange("condition_crf", int64_t{*spec.condition_crf}, int64_t{0}, kMostCrf);
  }
  if (RefinedClipOf(spec) == nullptr) {
    CheckOptional("denoise_strength", spec.denoise_strength, known.denoise_strength, 1, out);
  }
  CheckOptional("image_condition_noise_scale", spec.image_condition_noise_scale,
                known.image_condition_noise_scale, 1, out);
  CheckOptional("decode_timestep", spec.decode_timestep, known.decode_timestep, 1, out);
  CheckOptional("decode_noise_scale", spec.decode_noise_scale, known.decode_noise_scale, 1, out);
  if (spec.max_text_tokens != 0) {
    out.InRange("max_text_tokens", int64_t{spec.max_text_tokens}, int64_t{1},
                int64_t{limits.max_text_tokens});
  }
  if (spec.sound.value_or(false) && !card.sound.exists()) {
    out.Add("sound", "this model makes no sound; nearest: leave it out");
  }
  CheckLoudness(spec, card, out);
  CheckPasses(spec, card, out);
  CheckRefinement(spec, card, out);
  CheckProfile(spec, card, out);
  CheckCache(spec.cache, card.defaults.cache, out);
  CheckConditionsAgainstCard(spec, card, out);
}

}  // namespace reel::model
