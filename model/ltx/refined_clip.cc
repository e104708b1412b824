// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/refined_clip.h"

#include <utility>
#include <vector>

#include "kernels/base/status_macros.h"
#include "model/bridge/upload.h"
#include "model/ltx/decode_noise.h"
#include "model/ltx/encode_stage.h"
#include "model/ltx/presets.h"
#include "model/ltx/rope.h"
#include "model/pass_work.h"
#include "model/refinement.h"

namespace reel::model::ltx {
namespace {

constexpr int64_t kInTime = 2;

}  // namespace

absl::Status PlanRefinement(const LtxModel& model, const ModelCard& card,
                            const GenerationSpec& spec, LtxGeneration& mine) {
  const std::vector<double> timesteps = RefinementTimesteps(spec, card);
  const Recipe recipe = RecipeOf(spec);
  if (!model.upsampler.has_value() || !recipe.second_pass.has_value() || timesteps.empty()) {
    return absl::FailedPreconditionError("the model has no latent upsampler to refine a clip with");
  }
  REEL_ASSIGN_OR_RETURN(ClipInWindows clip, PlanWindows(spec, card));
  const PassWork pass = PassesOf(spec, card).front();
  DenoiseState& state = mine.state;
  REEL_ASSIGN_OR_RETURN(state.schedule, GivenSchedule(model.scheduler, timesteps));
  state.mode = Mode::kCondition;
  state.shape = {clip.windows.front().end, pass.height / kSpatial, pass.width / kSpatial};
  state.guidance = recipe.second_pass->guidance;
  state.condition_noise = 0;  // what is made stays as it is
  mine.decodes_whole = model.tiling.any();
  for (Notice& notice : RefinementNotices(spec)) mine.texts.notices.push_back(std::move(notice));
  mine.refined = std::move(clip);
  return absl::OkStatus();
}

bool EncodeRefined(const Ops& ops, const LtxModel& model, LtxGeneration& mine) {
  ClipInWindows& clip = *mine.refined;
  if (clip.latents.defined()) return true;
  const auto encode = [&](int64_t first, int64_t count) {
    const at::Tensor pixels = FramesOf(*clip.pixels, first, count, model.dtype);
    const at::Tensor mean =
        model.encoder.Encode(ops, Upload(pixels, model.device), model.tiling).mean;
    return model.statistics.Normalize(mean).to(at::kFloat);
  };
  if (EncodeNextPiece(clip, kTemporal, encode)) return false;
  TakeLatents(clip, UpsampleLatents(ops, *model.upsampler, model.statistics,
                                    RecipeOf(mine.spec).second_pass->touch,
                                    at::cat(clip.encoded, kInTime)));
  return false;
}

void BeginWindow(const LtxModel& model, LtxGeneration& mine) {
  ClipInWindows clip =
      mine.ready ? BehindWindow(*mine.refined, mine.state.Latents()) : *mine.refined;
  const Stretch& place = clip.place();
  DenoiseState next = mine.state;
  next.generator = mine.state.generator.clone();
  next.step = 0;
  next.times = {};
  next.cache.Forget();
  const int64_t channels = model.transformer.config().in_channels;
  const at::Tensor latents = UploadPart(clip.latents, place.begin, place.end, model.device);
  const at::Tensor noise = DrawNoise(next.shape, channels, next.generator, model.device);
  ConditionTokens building(next.shape, Noised(latents, noise, next.schedule.sigmas[0]),
                           PlacesOf(mine.spec.frame_rate));
  if (clip.made > place.begin) {
    building.Add({.latents = UploadPart(clip.latents, place.begin, clip.made, model.device),
                  .is_picture = false},
                 next.generator);
  }
  next.tokens = building.Finish();
  next.rope = RopeOf(model, next.tokens);
  // Frames leave before the last window has drawn its noise.
  at::Tensor decode_noise = mine.decode_noise;
  if (model.decoder.is_conditioned() && !decode_noise.defined()) {
    LatentShape whole = next.shape;
    whole.frames = clip.size();
    decode_noise = DrawDecodeNoise(model, whole, next.generator);
  }
  mine.steps_before = mine.ready ? mine.step() : 0;
  mine.planned_tokens = next.tokens.x.size(1);
  mine.state = std::move(next);
  mine.refined = std::move(clip);
  mine.decode_noise = std::move(decode_noise);
}

at::Tensor RefinedMiddle(const LtxGeneration& mine) {
  const ClipInWindows& clip = *mine.refined;
  return LatentAt(clip, clip.size() / 2, mine.state.Latents());
}

FrameSourcePtr RefinedSource(const LtxModel& model, const LtxGeneration& mine) {
  const auto decodable = [&model, &mine](int64_t index) {
    const at::Tensor latent =
        Upload(LatentAt(*mine.refined, index, mine.state.Latents()), model.device);
    const at::Tensor noise =
        mine.decode_noise.defined() ? mine.decode_noise.narrow(kInTime, index, 1) : at::Tensor();
    return Decodable(model, mine.spec, latent, noise);
  };
  return SourceOf({.all = mine.refined->size(),
                   .that_stay = [&mine] { return mine.latents_that_stay(); },
                   .decodable = decodable});
}

}  // namespace reel::model::ltx
