// SPDX-License-Identifier: Apache-2.0
#include "model/condition_work.h"

#include <algorithm>

#include "model/pass_work.h"
#include "model/reference_clip.h"
#include "model/refinement.h"

namespace reel::model {
namespace {

// Causal encoders repeat the first frame in front, as often as a kernel looks back.
constexpr int64_t kRepeatedFrames = 2;

int64_t PixelsOf(const FileSize& size, int64_t frames) {
  return int64_t{size.width} * size.height * (std::max<int64_t>(frames, 0) + kRepeatedFrames);
}

// Number of frames of this size that a worker decodes at most; at least one.
int64_t MostDecodedFrames(const FileSize& size) {
  constexpr int64_t kPixelBytes = 3;
  const int64_t frame = kPixelBytes * size.width * size.height;
  return std::max<int64_t>(kMostConditionBytes / std::max<int64_t>(frame, 1), 1);
}

ConditionWork OfRefinedClip(const GenerationSpec& resolved, const ModelCard& card) {
  const PassWork last = AllPassesOf(resolved, card).back();
  const int64_t latents = (resolved.num_frames - 1) / card.temporal_multiple + 1;
  const int64_t at_once = std::min(latents, kPieceLatents + kLatentsBefore);
  ConditionWork work;
  work.pixels =
      PixelsOf(RefinedClipSize(resolved, card), (at_once - 1) * card.temporal_multiple + 1);
  work.upsampled_tokens =
      latents * (last.width / card.spatial_multiple) * (last.height / card.spatial_multiple);
  return work;
}

int64_t PixelsOfReference(const GenerationSpec& resolved, const ModelCard& card,
                          const FileSize& pass) {
  const auto scale = ReferenceScaleOf(resolved, card);
  if (!scale.has_value()) return 0;
  const int64_t fitting = ReferenceFrames(resolved.num_frames, *scale, card.temporal_multiple);
  const FileSize decoded = ReferenceSize({resolved.width, resolved.height}, *scale);
  return PixelsOf(ReferenceSize(pass, *scale), std::min(fitting, MostDecodedFrames(decoded)));
}

}  // namespace

ConditionWork ConditionWorkOf(const GenerationSpec& resolved, const ModelCard& card) {
  if (RefinedClipOf(resolved) != nullptr) return OfRefinedClip(resolved, card);
  const PassWork largest = LargestOf(PassesOf(resolved, card));
  const FileSize pass = {largest.width, largest.height};
  const int64_t most = MostDecodedFrames({resolved.width, resolved.height});
  ConditionWork work;
  for (const Condition& condition : resolved.conditions) {
    if (condition.is_sound()) continue;
    if (condition.is_reference()) {
      work.pixels = std::max(work.pixels, PixelsOfReference(resolved, card, pass));
      continue;
    }
    const bool is_clip = condition.kind == Condition::Kind::kVideo;
    const int64_t fitting = std::max(resolved.num_frames - condition.frame_index, 1);
    const int64_t frames = is_clip ? std::min(fitting, most) : 1;
    work.pixels = std::max(work.pixels, PixelsOf(pass, frames));
    if (condition.frame_index == 0) continue;
    work.added_tokens += ((frames - 1) / card.temporal_multiple + 1) *
                         (largest.width / card.spatial_multiple) *
                         (largest.height / card.spatial_multiple);
  }
  return work;
}

}  // namespace reel::model
