// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/request_conditions.h"

#include "absl/strings/str_cat.h"

namespace reel::model::ltx {
namespace {

constexpr int kPromptTextTokens = 128, kConditionTextTokens = 256;

}  // namespace

int TextTokensOf(const GenerationSpec& spec, Mode mode) {
  if (spec.max_text_tokens > 0) return spec.max_text_tokens;
  return mode == Mode::kCondition ? kConditionTextTokens : kPromptTextTokens;
}

absl::StatusOr<Mode> ModeOf(const GenerationSpec& spec, const SchedulerConfig& scheduler) {
  using enum ConditionPipeline;
  // Whatever the schedule: held tokens are of the clip's own, so there are no more of them.
  if (spec.holds_latents()) return Mode::kCondition;
  const bool one_image = HasOneFirstPicture(spec);
  if (spec.condition_pipeline == kImage) {
    if (one_image) return Mode::kImage;
    return absl::InvalidArgumentError(
        "the image pipeline takes exactly one image, at frame 0 with strength 1");
  }
  if (spec.conditions.empty() && spec.condition_pipeline == kAuto) return Mode::kText;
  if (!scheduler.use_dynamic_shifting) return Mode::kCondition;
  if (one_image && spec.condition_pipeline == kAuto) return Mode::kImage;
  return absl::InvalidArgumentError(
      "this model's schedule depends on the number of tokens, so it takes only one image, at frame "
      "0 with strength 1");
}

}  // namespace reel::model::ltx
