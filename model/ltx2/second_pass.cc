// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/second_pass.h"

#include <utility>

#include "model/bridge/random.h"

namespace reel::model::ltx2 {

void BeginSecondPass(const Ops& ops, const Ltx2Model& model, Ltx2Generation& mine) {
  const PlannedPass& pass = *mine.second_pass;
  const TransformerConfig& config = model.transformer.config();
  at::Generator generator = mine.generator.clone();
  const double sigma = pass.schedule.sigmas[0];
  const auto noised = [&](const at::Tensor& tokens) {
    return Noised(tokens, DrawNormal(tokens.sizes(), generator, tokens.options()), sigma);
  };
  const at::Tensor pictures =
      UpsampleLatents(ops, *model.upsampler, model.statistics, {}, mine.PictureLatents());
  DenoiseState next = mine.state;
  next.latents.video = noised(PackLatents(pictures));
  next.latents.audio = noised(mine.state.latents.audio);
  next.video_tables =
      MakeVideoTables(config, VideoPlaces(config, pass.sizes.video, mine.spec.frame_rate))
          .To(model.device);
  next.schedule = pass.schedule;
  next.step = 0;
  next.guidance = {};
  next.sampler = Sampler::kEuler;
  mine.steps_before = mine.step();
  mine.sizes = pass.sizes;
  mine.state = std::move(next);
  mine.generator = generator;
  mine.second_pass.reset();
}

}  // namespace reel::model::ltx2
