// SPDX-License-Identifier: Apache-2.0
// Prepares a request's pictures and clips for an autoencoder.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "model/bridge/aten.h"
#include "model/generation_spec.h"

namespace reel::model {

struct PictureSize {
  int width = 0, height = 0;  // pixels
};

// Where a condition may begin behind the video's first frame.
enum class ConditionPlaces {
  kAnywhere,        // clips where a latent of theirs begins, and longer than one
  kFirstOfALatent,  // at the first of the frames that a latent stands for
};

struct PictureCondition {
  at::Tensor pixels;  // [1, 3, T, H, W] in -1..1, T = frames_per_latent k + 1
  int64_t frame_index = 0;
  double strength = 1;
};

// INVALID_ARGUMENT names the condition and the rule. Refused: a size other than the video's, a
// place outside the clip or not in `places`, a later clip with fewer frames than two latents.
// Pixels are scaled to the pass's size if that differs from the video's.
absl::StatusOr<std::vector<PictureCondition>> ConditionsOf(
    const GenerationSpec& spec, PictureSize pass, int frames_per_latent, at::ScalarType dtype,
    ConditionPlaces places = ConditionPlaces::kAnywhere);

// Whether the request has one picture and nothing else, wholly the first of the video.
bool HasOneFirstPicture(const GenerationSpec& spec);

// The request without pictures and bytes, for a generation that has copied what it needs.
GenerationSpec WithoutPixels(GenerationSpec spec);

}  // namespace reel::model
