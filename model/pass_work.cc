// SPDX-License-Identifier: Apache-2.0
#include "model/pass_work.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "absl/types/span.h"
#include "model/first_step.h"
#include "model/held_stretch.h"
#include "model/reference_clip.h"
#include "model/refinement.h"
#include "model/spec_defaults.h"

namespace reel::model {
namespace {

// For a preset without passes, and without a preset.
constexpr Pass kPlain;

absl::Span<const Pass> PassesIn(const Preset* preset) {
  if (preset == nullptr || preset->passes.empty()) return absl::MakeConstSpan(&kPlain, 1);
  return preset->passes;
}

int StepsOf(const GenerationSpec& resolved, const Pass& pass) {
  const int steps = pass.steps > 0 ? pass.steps : resolved.num_steps();
  return pass.by_strength ? steps - FirstStep(steps, resolved.denoise_strength.value_or(1)) : steps;
}

// That the request's guidance adds to each of a token's: away from the negative prompt, which a
// pass may go without, and those of models with sound.
struct GuidanceRows {
  int negative = 0, further = 0;
};

GuidanceRows RowsOfGuidance(const GenerationSpec& resolved) {
  const auto above = [](std::optional<double> scale, double least) {
    return scale.value_or(least) > least;
  };
  const bool negative =
      above(resolved.guidance_scale, 1) || above(resolved.audio_guidance_scale, 1);
  const bool perturbed = !resolved.stg_blocks.empty() &&
                         (above(resolved.stg_scale, 0) || above(resolved.audio_stg_scale, 0));
  const bool isolated =
      above(resolved.modality_scale, 1) || above(resolved.audio_modality_scale, 1);
  return {negative ? 1 : 0, (perturbed ? 1 : 0) + (isolated ? 1 : 0)};
}

// Whether a side of so many latents is the same after all passes, none of which drops a remainder.
bool ComesBack(int64_t side, absl::Span<const Pass> passes) {
  int64_t rest = side;
  for (const Pass& pass : passes) {
    rest *= pass.sides.numerator;
    const int denominator = std::max(pass.sides.denominator, 1);
    // A nonsensical card must not make the numbers overflow.
    if (rest < 1 || rest % denominator != 0) return false;
    rest /= denominator;
    if (rest > std::numeric_limits<int>::max()) return false;
  }
  return rest == side;
}

}  // namespace

int PassSide(int side, Ratio ratio, int multiple) {
  const int64_t latents = side / multiple;
  // Cards come from other processes and from disk: a nonsensical one must not end this process.
  return static_cast<int>(latents * ratio.numerator / std::max(ratio.denominator, 1) * multiple);
}

int NumPasses(std::string_view preset, const ModelCard& card) {
  return static_cast<int>(PassesIn(FindPreset(card, preset)).size());
}

bool HasLaterPasses(const ModelCard& card) {
  return std::any_of(card.presets.begin(), card.presets.end(),
                     [](const Preset& preset) { return PassesIn(&preset).size() > 1; });
}

std::vector<PassWork> PassesOf(const GenerationSpec& resolved, const ModelCard& card) {
  if (RefinedClipOf(resolved) != nullptr) return RefinementPasses(resolved, card);
  std::vector<PassWork> passes = AllPassesOf(resolved, card);
  const auto all = static_cast<int>(passes.size());
  // A request that no rule has checked yet makes one pass at least.
  if (resolved.stop_after_pass) passes.resize(std::clamp(*resolved.stop_after_pass, 1, all));
  if (resolved.is_promotion() && all > 1) passes.erase(passes.begin());
  return passes;
}

FileSize FileSizeOf(const GenerationSpec& resolved, const ModelCard& card) {
  if (!resolved.stop_after_pass) return {resolved.width, resolved.height};
  const PassWork last = PassesOf(resolved, card).back();
  return {last.width, last.height};
}

std::vector<PassWork> AllPassesOf(const GenerationSpec& resolved, const ModelCard& card) {
  std::vector<PassWork> passes;
  GenerationSpec video = resolved;
  const GuidanceRows guidance = RowsOfGuidance(resolved);
  for (const Pass& pass : PassesIn(FindPreset(card, resolved.preset))) {
    video.width = PassSide(video.width, pass.sides, card.spatial_multiple);
    video.height = PassSide(video.height, pass.sides, card.spatial_multiple);
    const int64_t tokens =
        LatentTokens(video, card) + ReferenceTokens(resolved, {video.width, video.height}, card);
    const int64_t rows_each =
        1 + (pass.guided ? guidance.negative : 0) + guidance.further + pass.extra_rows;
    passes.push_back({.width = video.width,
                      .height = video.height,
                      .tokens = tokens,
                      .rows = tokens * rows_each,
                      .steps = StepsOf(resolved, pass)});
  }
  return passes;
}

const PassWork& LargestOf(const std::vector<PassWork>& passes) {
  return *std::max_element(passes.begin(), passes.end(),
                           [](const auto& a, const auto& b) { return a.tokens < b.tokens; });
}

int64_t RowsTaken(int64_t rows, int64_t fill_rows) {
  return rows > fill_rows / 2 ? std::max(rows, fill_rows) : rows;
}

DecodeTime DecodeTimeOf(const GenerationSpec& resolved, const ModelCard& card) {
  const bool in_windows =
      RefinedClipOf(resolved) != nullptr && RefinementWindows(resolved, card).size() > 1;
  return in_windows ? DecodeTime::kBetweenSteps : DecodeTime::kBehindSteps;
}

int64_t PeakMemoryOf(const MemoryCosts& costs, const MemoryWork& work) {
  int64_t tokens = 0, rows = 0, upsampled = work.conditions.upsampled_tokens;
  // Conditions add tokens to smaller passes in proportion to their size.
  const int64_t largest = std::max<int64_t>(LargestOf(work.passes).tokens, 1);
  for (const PassWork& pass : work.passes) {
    const int64_t all = pass.tokens + work.conditions.added_tokens * pass.tokens / largest;
    const int64_t rows_each = pass.rows / std::max<int64_t>(pass.tokens, 1);
    const int64_t at_once = costs.rows_at_once > 0 ? costs.rows_at_once : rows_each;
    tokens = std::max(tokens, all);
    rows = std::max(rows, std::min(rows_each, at_once) * all);
    if (&pass != &work.passes.front()) upsampled = std::max(upsampled, pass.tokens);
  }
  int64_t pixels = work.clip_pixels;
  if (costs.decode_pixels_at_once > 0) pixels = std::min(pixels, costs.decode_pixels_at_once);
  const int64_t frame_pixels = int64_t{work.passes.back().width} * work.passes.back().height;
  const int64_t decode = costs.clip_pixel * work.clip_pixels + costs.decode_pixel * pixels +
                         costs.frame_pixel * frame_pixels;
  const int64_t step = costs.step_row * rows;
  const int64_t stepped =
      work.decoded == DecodeTime::kBetweenSteps ? step + decode : std::max(step, decode);
  return costs.job + costs.token * tokens +
         std::max({stepped, costs.encode_pixel * work.conditions.pixels,
                   costs.upsample_token * upsampled});
}

int64_t PeakMemoryOf(const GenerationSpec& resolved, const ModelCard& card) {
  MemoryWork work = {.passes = PassesOf(resolved, card),
                     .decoded = DecodeTimeOf(resolved, card),
                     .conditions = ConditionWorkOf(resolved, card)};
  const PassWork& last = work.passes.back();
  work.clip_pixels =
      int64_t{last.width} * last.height * DecodedFrames(resolved, card.temporal_multiple);
  return PeakMemoryOf(card.memory, work);
}

int LeastSide(std::string_view preset, const ModelCard& card) {
  const absl::Span<const Pass> passes = PassesIn(FindPreset(card, preset));
  for (int side = card.spatial_multiple; side < card.limits.max_size;
       side += card.spatial_multiple) {
    int rest = side, least = side;
    for (const Pass& pass : passes) {
      rest = PassSide(rest, pass.sides, card.spatial_multiple);
      least = std::min(least, rest);
    }
    if (least > 0 && least >= card.limits.min_size) return side;
  }
  return card.spatial_multiple;
}

int SideMultiple(std::string_view preset, const ModelCard& card) {
  const absl::Span<const Pass> passes = PassesIn(FindPreset(card, preset));
  for (int latents = 1; latents <= card.limits.max_size / card.spatial_multiple; ++latents) {
    if (ComesBack(latents, passes)) return latents * card.spatial_multiple;
  }
  return card.spatial_multiple;
}

}  // namespace reel::model
