// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/request_conditions.h"

#include <ATen/ops/_upsample_bilinear2d_aa.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"

namespace reel::model::ltx {
namespace {

constexpr int kPromptTextTokens = 128, kConditionTextTokens = 256;

absl::Status Bad(size_t index, const std::string& rule) {
  return absl::InvalidArgumentError(
      absl::StrCat("a condition does not match the video: conditions[", index, "] ", rule));
}

// Frames that are used of `given`: up to the clip's end, and 8 k + 1 of them.
int UsedFrames(const GenerationSpec& spec, const Condition& condition, int given) {
  const int room = spec.num_frames - condition.frame_index;
  return (std::min(given, room) - 1) / kTemporal * kTemporal + 1;
}

absl::Status Check(const GenerationSpec& spec, size_t index) {
  const Condition& condition = spec.conditions[index];
  if (condition.pixels == nullptr || condition.pixels->num_frames < 1) {
    return Bad(index, "has no decoded pixels");
  }
  const ConditionPixels& pixels = *condition.pixels;
  if (pixels.width != spec.width || pixels.height != spec.height) {
    return Bad(index,
               absl::StrCat("is ", pixels.width, "x", pixels.height,
                            " pixels after scaling, the video ", spec.width, "x", spec.height));
  }
  const auto bytes = static_cast<size_t>(pixels.width) * static_cast<size_t>(pixels.height) * 3 *
                     static_cast<size_t>(pixels.num_frames);
  if (pixels.rgb.size() != bytes) return Bad(index, "has fewer pixels than its size");
  if (condition.frame_index < 0 || condition.frame_index >= spec.num_frames) {
    return Bad(index, absl::StrCat("begins at frame ", condition.frame_index,
                                   ", the last frame is ", spec.num_frames - 1));
  }
  const int used = UsedFrames(spec, condition, pixels.num_frames);
  if (condition.frame_index > 0 && pixels.num_frames > 1) {
    if (condition.frame_index % kTemporal != 0) {
      return Bad(index, absl::StrCat("is a clip at frame ", condition.frame_index,
                                     ", which must be a multiple of ", kTemporal));
    }
    if (used <= kTemporal) return Bad(index, "is a clip of fewer than 9 frames inside the video");
  }
  return absl::OkStatus();
}

// [1, 3, frames, H, W] in -1..1, of the size `pass`.
at::Tensor Pixels(const ConditionPixels& source, int frames, PictureSize pass,
                  at::ScalarType dtype) {
  at::Tensor bytes = at::empty({frames, source.height, source.width, 3}, at::kByte);
  std::copy_n(source.rgb.data(), bytes.numel(), bytes.data_ptr<uint8_t>());
  at::Tensor unit = (bytes.to(at::kFloat) / 255.0).permute({0, 3, 1, 2}).contiguous();
  if (pass.width != source.width || pass.height != source.height) {
    unit = at::_upsample_bilinear2d_aa(unit, {pass.height, pass.width}, /*align_corners=*/false);
  }
  return (unit.transpose(0, 1).unsqueeze(0).contiguous() * 2.0 - 1.0).to(dtype);
}

}  // namespace

absl::StatusOr<std::vector<PictureCondition>> ConditionsOf(const GenerationSpec& spec,
                                                           PictureSize pass, at::ScalarType dtype) {
  std::vector<PictureCondition> conditions;
  for (size_t i = 0; i < spec.conditions.size(); ++i) {
    REEL_RETURN_IF_ERROR(Check(spec, i));
    const Condition& condition = spec.conditions[i];
    const int used = UsedFrames(spec, condition, condition.pixels->num_frames);
    conditions.push_back({.pixels = Pixels(*condition.pixels, used, pass, dtype),
                          .frame_index = condition.frame_index,
                          .strength = condition.strength.value_or(1.0)});
  }
  return conditions;
}

GenerationSpec WithoutPixels(GenerationSpec spec) {
  for (Condition& condition : spec.conditions) {
    condition.bytes = nullptr;
    condition.pixels = nullptr;
  }
  return spec;
}

int TextTokensOf(const GenerationSpec& spec, Mode mode) {
  if (spec.max_text_tokens > 0) return spec.max_text_tokens;
  return mode == Mode::kCondition ? kConditionTextTokens : kPromptTextTokens;
}

absl::StatusOr<Mode> ModeOf(const GenerationSpec& spec, const SchedulerConfig& scheduler) {
  using enum ConditionPipeline;
  const bool one_image = spec.conditions.size() == 1 && spec.conditions[0].frame_index == 0 &&
                         spec.conditions[0].kind == Condition::Kind::kImage &&
                         spec.conditions[0].strength.value_or(1.0) == 1.0;
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
