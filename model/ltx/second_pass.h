// SPDX-License-Identifier: Apache-2.0
// A video in two passes: small first, then at twice that size from the upsampled latents, and in
// the end scaled to what was asked for.
#pragma once

#include "absl/status/statusor.h"
#include "model/ltx/denoise_state.h"
#include "model/ltx/presets.h"
#include "model/sampler/schedule.h"

namespace reel::model::ltx {

struct PictureSize {
  int width = 0, height = 0;  // pixels
};

// What the passes of a video of this size are made at. INVALID_ARGUMENT where there is too little
// for a first pass.
absl::StatusOr<PictureSize> FirstPassSize(PictureSize video);
PictureSize SecondPassSize(PictureSize first_pass);

// A second pass that has not begun.
struct PlannedPass {
  LatentShape shape;
  PictureSize size;
  Schedule schedule;
  int first_step = 0;
  SecondPass recipe;

  int steps() const { return schedule.steps() - first_step; }
};

absl::StatusOr<PlannedPass> PlanSecondPass(const SecondPass& recipe,
                                           const SchedulerConfig& scheduler, PictureSize first,
                                           int64_t latent_frames);

// The noisy latents that the pass begins with, [1, C, F, h, w] fp32; `noise` and `latents` are of
// that shape.
at::Tensor NoisedLatents(const PlannedPass& pass, const at::Tensor& noise,
                         const at::Tensor& latents);

}  // namespace reel::model::ltx
