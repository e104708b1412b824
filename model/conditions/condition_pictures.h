// SPDX-License-Identifier: Apache-2.0
// Prepares a request's pictures and clips for an autoencoder.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "model/bridge/aten.h"
#include "model/generation_spec.h"

namespace reel::model {

struct PictureSize {
  int width = 0, height = 0;  // pixels
};

// The frames at which a condition may begin, besides frame 0. A latent stands for n frames.
enum class ConditionPlaces {
  kAnywhere,        // a picture at any frame, a clip of more than n frames at a multiple of n
  kFirstOfALatent,  // both at a multiple of n plus 1: the first frame that a latent stands for
};

struct PictureCondition {
  at::Tensor pixels;  // [1, 3, T, H, W] in -1..1, T = frames_per_latent k + 1
  int64_t frame_index = 0;
  double strength = 1;
  std::optional<ReferenceScale> reference = {};  // of a reference clip alone
  double attention_strength = 1;                 // likewise
};

// So many frames of a clip from `first` on, [1, 3, count, H, W] in -1..1. Behind its end the last
// one stands still.
at::Tensor FramesOf(const ConditionPixels& clip, int64_t first, int64_t count,
                    at::ScalarType dtype);

// Scales pixels to the pass's size if that differs from the video's, those of a reference clip to
// the part of it that its adapter wants. INVALID_ARGUMENT names the condition and the rule. Refused
// are a size other than the video's or that part of it, a reference that no adapter wants, and a
// place outside the clip or not among `places`.
absl::StatusOr<std::vector<PictureCondition>> ConditionsOf(
    const GenerationSpec& spec, PictureSize pass, int frames_per_latent, at::ScalarType dtype,
    ConditionPlaces places = ConditionPlaces::kAnywhere);

// Whether the request's only condition, but for its sound, is one picture at frame 0 with
// strength 1.
bool HasOneFirstPicture(const GenerationSpec& spec);

// The request without the conditions' pixels and samples, for a generation that has copied them.
GenerationSpec WithoutPixels(GenerationSpec spec);

}  // namespace reel::model
