// SPDX-License-Identifier: Apache-2.0
// A video in two passes: small first, then at twice that size from the upsampled latents, and in
// the end scaled to what was asked for.
#pragma once

#include "absl/status/statusor.h"
#include "model/conditions/condition_pictures.h"
#include "model/ltx/denoise_state.h"
#include "model/ltx/presets.h"
#include "model/sampler/schedule.h"

namespace reel::model::ltx {

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

}  // namespace reel::model::ltx
