// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/second_pass.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/pass_work.h"

namespace reel::model::ltx {
namespace {

constexpr int kLeast = 64;  // two thirds of it are more than one latent

PictureSize Scaled(PictureSize size, Ratio sides) {
  return {PassSide(size.width, sides, kSpatial), PassSide(size.height, sides, kSpatial)};
}

}  // namespace

absl::StatusOr<PictureSize> FirstPassSize(PictureSize video) {
  const PictureSize size = Scaled(video, kFirstPassSides);
  if (size.width > 0 && size.height > 0) return size;
  return absl::InvalidArgumentError(
      absl::StrCat("the video is too small for two passes: ", video.width, "x", video.height,
                   "; each side is at least ", kLeast));
}

PictureSize SecondPassSize(PictureSize first_pass) { return Scaled(first_pass, kSecondPassSides); }

absl::StatusOr<PlannedPass> PlanSecondPass(const SecondPass& recipe,
                                           const SchedulerConfig& scheduler, PictureSize first,
                                           int64_t latent_frames) {
  PlannedPass pass;
  pass.size = SecondPassSize(first);
  pass.shape = {latent_frames, pass.size.height / kSpatial, pass.size.width / kSpatial};
  REEL_ASSIGN_OR_RETURN(pass.schedule, GivenSchedule(scheduler, recipe.timesteps));
  pass.first_step = FirstStep(pass.schedule.steps(), recipe.denoise_strength);
  pass.recipe = recipe;
  return pass;
}

}  // namespace reel::model::ltx
