// SPDX-License-Identifier: Apache-2.0
#include "model/conditions/condition_pictures.h"

#include <ATen/ops/_upsample_bilinear2d_aa.h>

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/own_sound.h"
#include "model/reference_clip.h"

namespace reel::model {
namespace {

absl::Status Bad(size_t index, const std::string& rule) {
  return absl::InvalidArgumentError(
      absl::StrCat("a condition does not match the video: conditions[", index, "] ", rule));
}

// The number of `given` frames that are used: up to the clip's end, and latent * k + 1.
int UsedFrames(const GenerationSpec& spec, const Condition& condition, int given, int latent) {
  const int room = spec.num_frames - condition.frame_index;
  return (std::min(given, room) - 1) / latent * latent + 1;
}

// Clips that begin with a latent of the video's own grid.
absl::Status CheckAnywhere(const GenerationSpec& spec, size_t index, int latent) {
  const Condition& condition = spec.conditions[index];
  if (condition.frame_index == 0 || condition.pixels->num_frames == 1) return absl::OkStatus();
  if (condition.frame_index % latent != 0) {
    return Bad(index, absl::StrCat("is a clip at frame ", condition.frame_index,
                                   ", which must be a multiple of ", latent));
  }
  if (UsedFrames(spec, condition, condition.pixels->num_frames, latent) <= latent) {
    return Bad(index,
               absl::StrCat("is a clip of fewer than ", latent + 1, " frames inside the video"));
  }
  return absl::OkStatus();
}

absl::Status CheckFirstOfALatent(const GenerationSpec& spec, size_t index, int latent) {
  const int frame = spec.conditions[index].frame_index;
  if (frame == 0 || (frame - 1) % latent == 0) return absl::OkStatus();
  const int last = (spec.num_frames - 2) / latent;
  const int nearest = std::min(last, (frame - 1 + latent / 2) / latent) * latent + 1;
  return Bad(index, absl::StrCat("begins at frame ", frame, ", which must be 0 or a multiple of ",
                                 latent, " plus 1; nearest: ", nearest));
}

absl::Status CheckPixels(const Condition& condition, size_t index, const FileSize& wanted,
                         const char* whose) {
  if (condition.pixels == nullptr || condition.pixels->num_frames < 1) {
    return Bad(index, "has no decoded pixels");
  }
  const ConditionPixels& pixels = *condition.pixels;
  if (pixels.width != wanted.width || pixels.height != wanted.height) {
    return Bad(index,
               absl::StrCat("is ", pixels.width, "x", pixels.height, " pixels after scaling, ",
                            whose, " ", wanted.width, "x", wanted.height));
  }
  const auto bytes = static_cast<size_t>(pixels.width) * static_cast<size_t>(pixels.height) * 3 *
                     static_cast<size_t>(pixels.num_frames);
  if (pixels.rgb.size() != bytes) return Bad(index, "has fewer pixels than its size");
  return absl::OkStatus();
}

absl::Status Check(const GenerationSpec& spec, size_t index, int latent, ConditionPlaces places) {
  const Condition& condition = spec.conditions[index];
  REEL_RETURN_IF_ERROR(CheckPixels(condition, index, {spec.width, spec.height}, "the video"));
  if (condition.frame_index < 0 || condition.frame_index >= spec.num_frames) {
    return Bad(index, absl::StrCat("begins at frame ", condition.frame_index,
                                   ", the last frame is ", spec.num_frames - 1));
  }
  return places == ConditionPlaces::kAnywhere ? CheckAnywhere(spec, index, latent)
                                              : CheckFirstOfALatent(spec, index, latent);
}

// [frames, 3, H, W] in 0..1.
at::Tensor Unit(const ConditionPixels& source, int64_t first, int64_t frames) {
  at::Tensor bytes = at::empty({frames, source.height, source.width, 3}, at::kByte);
  const int64_t skipped = first * source.height * source.width * 3;
  std::copy_n(source.rgb.data() + skipped, bytes.numel(), bytes.data_ptr<uint8_t>());
  return (bytes.to(at::kFloat) / 255.0).permute({0, 3, 1, 2}).contiguous();
}

// [1, 3, frames, H, W] in -1..1.
at::Tensor AsClip(const at::Tensor& unit, at::ScalarType dtype) {
  return (unit.transpose(0, 1).unsqueeze(0).contiguous() * 2.0 - 1.0).to(dtype);
}

// [1, 3, frames, H, W] in -1..1, in the size of `pass`.
at::Tensor Pixels(const ConditionPixels& source, int frames, PictureSize pass,
                  at::ScalarType dtype) {
  at::Tensor unit = Unit(source, 0, frames);
  if (pass.width != source.width || pass.height != source.height) {
    unit = at::_upsample_bilinear2d_aa(unit, {pass.height, pass.width}, /*align_corners=*/false);
  }
  return AsClip(unit, dtype);
}

absl::StatusOr<PictureCondition> ReferenceOf(const GenerationSpec& spec, size_t index,
                                             PictureSize pass, int latent, at::ScalarType dtype) {
  const Condition& condition = spec.conditions[index];
  const std::optional<ReferenceScale> scale = ReferenceScaleOf(spec);
  if (!scale.has_value()) return Bad(index, "is a reference, but no adapter wants one");
  const FileSize wanted = ReferenceSize({spec.width, spec.height}, *scale);
  REEL_RETURN_IF_ERROR(CheckPixels(condition, index, wanted, "the adapter wants"));
  const int most = ReferenceFrames(spec.num_frames, *scale, latent);
  const int used = (std::min(condition.pixels->num_frames, most) - 1) / latent * latent + 1;
  const FileSize part = ReferenceSize({pass.width, pass.height}, *scale);
  return PictureCondition{
      .pixels = Pixels(*condition.pixels, used, {part.width, part.height}, dtype),
      .strength = condition.strength.value_or(1.0),
      .reference = scale,
      .attention_strength = condition.attention_strength.value_or(1.0)};
}

}  // namespace

at::Tensor FramesOf(const ConditionPixels& clip, int64_t first, int64_t count,
                    at::ScalarType dtype) {
  const int64_t last = clip.num_frames - 1;
  const int64_t begin = std::min(first, last), own = std::min(count, clip.num_frames - begin);
  const at::Tensor pixels = AsClip(Unit(clip, begin, own), dtype);
  if (own == count) return pixels;
  const at::Tensor still = pixels.slice(2, own - 1).expand({1, 3, count - own, -1, -1});
  return at::cat({pixels, still}, 2);
}

absl::StatusOr<std::vector<PictureCondition>> ConditionsOf(const GenerationSpec& spec,
                                                           PictureSize pass, int frames_per_latent,
                                                           at::ScalarType dtype,
                                                           ConditionPlaces places) {
  std::vector<PictureCondition> conditions;
  for (size_t i = 0; i < spec.conditions.size(); ++i) {
    if (spec.conditions[i].is_sound()) continue;
    if (spec.conditions[i].is_reference()) {
      REEL_ASSIGN_OR_RETURN(PictureCondition reference,
                            ReferenceOf(spec, i, pass, frames_per_latent, dtype));
      conditions.push_back(std::move(reference));
      continue;
    }
    REEL_RETURN_IF_ERROR(Check(spec, i, frames_per_latent, places));
    const Condition& condition = spec.conditions[i];
    const int used = UsedFrames(spec, condition, condition.pixels->num_frames, frames_per_latent);
    conditions.push_back({.pixels = Pixels(*condition.pixels, used, pass, dtype),
                          .frame_index = condition.frame_index,
                          .strength = condition.strength.value_or(1.0)});
  }
  return conditions;
}

bool HasOneFirstPicture(const GenerationSpec& spec) {
  if (NumPictures(spec) != 1) return false;
  const auto only =
      std::ranges::find_if(spec.conditions, [](const Condition& each) { return !each.is_sound(); });
  return only->frame_index == 0 && only->kind == Condition::Kind::kImage &&
         only->strength.value_or(1.0) == 1.0;
}

GenerationSpec WithoutPixels(GenerationSpec spec) {
  for (Condition& condition : spec.conditions) {
    condition.bytes = nullptr;
    condition.pixels = nullptr;
    condition.sound = condition.carried_sound = nullptr;
  }
  return spec;
}

}  // namespace reel::model
