// SPDX-License-Identifier: Apache-2.0
#include "model/refinement.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/own_sound.h"
#include "model/spec_defaults.h"
#include "model/utf8.h"

namespace reel::model {
namespace {

constexpr double kMostRefinedSeconds = 30;
constexpr double kLeastNoise = 0.01;
constexpr double kTimestepsOfNoise = 1000;

// Null: the preset has no pass that refines.
const Pass* RefiningPass(const Preset* preset) {
  if (preset == nullptr || preset->passes.size() < 2) return nullptr;
  const Pass& last = preset->passes.back();
  return last.timesteps.empty() ? nullptr : &last;
}

std::string WhyNoPreset(const GenerationSpec& spec, const ModelCard& card) {
  const std::vector<std::string> able = RefiningPresets(card);
  return absl::StrCat(spec.preset.empty() ? "a request without a preset"
                                          : absl::StrCat("preset ", Quoted(spec.preset)),
                      " has no second pass that refines a clip; ",
                      able.empty()
                          ? "this model has no preset with one: it needs a latent upsampler"
                          : absl::StrCat("presets with one: ", absl::StrJoin(able, ", ")));
}

void CheckClip(const Condition& clip, const std::string& field, ViolationList& out) {
  if (clip.kind != Condition::Kind::kVideo) {
    out.Add(absl::StrCat(field, ".", FieldOf(clip.kind)),
            "only a clip is refined; nearest: a video");
  }
  if (clip.frame_index != 0) {
    out.Add(field + ".frame_index",
            absl::StrCat(clip.frame_index,
                         ", but a clip that is refined begins with the video; nearest: 0"));
  }
  if (clip.strength) {
    out.Add(field + ".strength", absl::StrCat(*clip.strength,
                                              ", but a clip that is refined has none; nearest: "
                                              "leave it out, and set denoise_strength"));
  }
}

void CheckAlone(const GenerationSpec& spec, const Condition& clip, ViolationList& out) {
  for (size_t i = 0; i < spec.conditions.size(); ++i) {
    const Condition& other = spec.conditions[i];
    if (&other == &clip || other.is_sound()) continue;
    out.Add(absl::StrCat("conditions[", i, "].", other.is_refined() ? "use" : FieldOf(other.kind)),
            other.is_refined() ? "is a second clip to refine; nearest: leave it out"
                               : "stands beside a clip that is refined, which all frames are "
                                 "from; nearest: leave it out");
  }
  if (spec.source) {
    out.Add("source", "stands beside a clip that is refined; nearest: leave one of them out");
  }
  if (spec.stop_after_pass) {
    out.Add("stop_after_pass",
            "a refinement has no first pass to stop behind; nearest: leave it out");
  }
}

}  // namespace

const Condition* RefinedClipOf(const GenerationSpec& spec) {
  const auto found = std::ranges::find_if(spec.conditions, &Condition::is_refined);
  return found == spec.conditions.end() ? nullptr : &*found;
}

std::vector<std::string> RefiningPresets(const ModelCard& card) {
  std::vector<std::string> able;
  for (const Preset& preset : card.presets) {
    if (RefiningPass(&preset) != nullptr) able.push_back(preset.name);
  }
  return able;
}

void FillRefinement(GenerationSpec& spec, const ModelCard& card) {
  if (RefinedClipOf(spec) == nullptr) return;
  if (spec.preset.empty()) {
    const std::vector<std::string> able = RefiningPresets(card);
    if (!able.empty()) spec.preset = able.front();
  }
  const Pass* const pass = RefiningPass(FindPreset(card, spec.preset));
  if (pass == nullptr || spec.denoise_strength) return;
  spec.denoise_strength = pass->timesteps.front() / kTimestepsOfNoise;
}

void CheckRefinement(const GenerationSpec& spec, const ModelCard& card, ViolationList& out) {
  const Condition* const clip = RefinedClipOf(spec);
  if (clip == nullptr) return;
  CheckClip(*clip, absl::StrCat("conditions[", clip - spec.conditions.data(), "]"), out);
  CheckAlone(spec, *clip, out);
  const Pass* const pass = RefiningPass(FindPreset(card, spec.preset));
  if (pass == nullptr) return out.Add("preset", WhyNoPreset(spec, card));
  if (!spec.denoise_strength) return;
  out.InRange("denoise_strength", *spec.denoise_strength, kLeastNoise,
              pass->timesteps.front() / kTimestepsOfNoise);
}

int MostRefinedFrames(const GenerationSpec& spec, const ModelCard& card) {
  // A rate that is no number yet is as the highest.
  const double rate = std::min(card.limits.max_frame_rate, std::max(spec.frame_rate, 0.0));
  const auto frames = static_cast<int>(std::ceil(kMostRefinedSeconds * rate));
  return frames / card.temporal_multiple * card.temporal_multiple + 1;
}

FileSize RefinedClipSize(const GenerationSpec& resolved, const ModelCard& card) {
  const PassWork first = AllPassesOf(resolved, card).front();
  return {first.width, first.height};
}

std::vector<double> RefinementTimesteps(const GenerationSpec& resolved, const ModelCard& card) {
  const Pass* const pass = RefiningPass(FindPreset(card, resolved.preset));
  if (pass == nullptr) return {};
  const double first = resolved.denoise_strength ? *resolved.denoise_strength * kTimestepsOfNoise
                                                 : pass->timesteps.front();
  std::vector<double> timesteps = {first};
  // As schedules compare them: the way over a strength may round the first one.
  for (const double timestep : pass->timesteps) {
    if (static_cast<float>(timestep) < static_cast<float>(first)) timesteps.push_back(timestep);
  }
  return timesteps;
}

std::vector<Stretch> RefinementWindows(const GenerationSpec& resolved, const ModelCard& card) {
  const PassWork last = AllPassesOf(resolved, card).back();
  const int64_t of_a_latent =
      int64_t{last.width / card.spatial_multiple} * (last.height / card.spatial_multiple);
  const int64_t all = (resolved.num_frames - 1) / card.temporal_multiple + 1;
  const int64_t held = (kOverlapFrames - 1) / card.temporal_multiple + 1;
  const int64_t by_frames = (card.limits.max_frames - 1) / card.temporal_multiple + 1;
  const int64_t by_tokens = card.limits.max_latent_tokens / std::max<int64_t>(of_a_latent, 1);
  const int64_t most = std::max(std::min(by_frames, by_tokens), held + 1);
  if (all <= most) return {{0, all}};
  const int64_t gaps = (all - held + most - held - 1) / (most - held) - 1;
  std::vector<Stretch> windows;
  for (int64_t i = 0; i <= gaps; ++i) {
    const int64_t begin = i * (all - most) / gaps;
    windows.push_back({begin, begin + most});
  }
  return windows;
}

std::vector<PassWork> RefinementPasses(const GenerationSpec& resolved, const ModelCard& card) {
  PassWork pass = AllPassesOf(resolved, card).back();
  const std::vector<Stretch> windows = RefinementWindows(resolved, card);
  const int64_t rows_each = pass.tokens > 0 ? pass.rows / pass.tokens : 1;
  pass.tokens = (windows.front().end - windows.front().begin) *
                (pass.width / card.spatial_multiple) * (pass.height / card.spatial_multiple);
  pass.rows = pass.tokens * rows_each;
  pass.steps = static_cast<int>(RefinementTimesteps(resolved, card).size());
  return std::vector<PassWork>(windows.size(), pass);
}

std::vector<Notice> RefinementNotices(const GenerationSpec& resolved) {
  const Condition* const clip = RefinedClipOf(resolved);
  if (clip == nullptr || clip->pixels == nullptr) return {};
  const int frames = clip->pixels->num_frames;
  const double seconds = resolved.num_frames / resolved.frame_rate;
  std::vector<Notice> notices;
  if (clip->pixels->is_cut) {
    notices.push_back(
        {"REFINED_CLIP_CUT", absl::StrFormat("The clip is longer than the video, which ends after "
                                             "%.2f s; the rest of it was left out.",
                                             seconds)});
  } else if (frames < resolved.num_frames) {
    notices.push_back({"REFINED_CLIP_ENDS_EARLY",
                       absl::StrFormat("The clip ends after %.2f s, the video after %.2f s; the "
                                       "clip's last frame stands still behind it.",
                                       frames / resolved.frame_rate, seconds)});
  }
  return notices;
}

}  // namespace reel::model
