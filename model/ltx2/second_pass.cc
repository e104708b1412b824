// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/second_pass.h"

#include <string>
#include <utility>
#include <vector>

#include "kernels/base/status_macros.h"
#include "model/bridge/random.h"
#include "model/ltx2/conditioning.h"

namespace reel::model::ltx2 {

namespace {

// Prepares the texts of a generation again, for other adapters. Their encodings are usually cached.
absl::StatusOr<PreparedTexts> PreparedAgain(const Ops& ops, Ltx2Model& model,
                                            const Ltx2Generation& mine,
                                            const AppliedAdapters& adapters) {
  const GenerationSpec& spec = mine.spec;
  std::vector<std::string> texts = {spec.prompt};
  const bool has_negative = mine.state.texts.video.tokens.size(0) > 1;
  if (has_negative) texts.insert(texts.begin(), spec.negative_prompt.value_or(""));
  std::vector<Texts> rows;
  for (const std::string& text : texts) {
    REEL_ASSIGN_OR_RETURN(const ConnectedPrompt prompt, model.prompts.EncodeFor(spec, ops, text));
    rows.push_back(prompt.texts);
  }
  const at::Tensor scales = PlaceAdapters(model.adapter_shelf.get(), adapters);
  return Prepare(ops.WithAdapters(scales), model.transformer, Joined(rows));
}

}  // namespace

absl::Status BeginSecondPass(const Ops& ops, Ltx2Model& model, Ltx2Generation& mine) {
  const PlannedPass& pass = *mine.second_pass;
  const TransformerConfig& config = model.transformer.config();
  at::Generator generator = mine.generator.clone();
  const double sigma = pass.schedule.sigmas[0];
  const auto noise_like = [&](const at::Tensor& tokens) {
    return DrawNormal(tokens.sizes(), generator, tokens.options());
  };
  REEL_ASSIGN_OR_RETURN(const std::vector<PictureCondition> conditions,
                        model.ConditionsOf(mine.spec, pass.sizes.video));
  std::vector<EncodedCondition> encoded;
  for (const PictureCondition& condition : conditions) {
    encoded.push_back(EncodeCondition(ops, model, condition, Mode::kCondition));
  }
  const at::Tensor pictures =
      UpsampleLatents(ops, *model.upsampler, model.statistics, {}, mine.PictureLatents());
  const PinnedClip clip =
      PinnedBy(encoded, config, pass.sizes.video, mine.spec.frame_rate, PackLatents(pictures));
  DenoiseState next = mine.state;
  next.latents.video = clip.Noised(noise_like(clip.tokens), sigma);
  const at::Tensor& sound = mine.state.latents.audio;
  next.latents.audio = Noised(sound, noise_like(sound), sigma);
  HoldSound(mine.held.sound, next);
  next.pins = clip.pins;
  next.references = clip.references;
  next.places = clip.places;
  next.video_tables = MakeVideoTables(config, clip.places).To(model.device);
  const int64_t of_a_frame = pass.sizes.video.height * pass.sizes.video.width;
  next.keyframe_tokens = mine.state.keyframe_tokens > 0 ? of_a_frame : 0;
  next.schedule = pass.schedule;
  next.step = 0;
  next.guidance = {};
  next.sampler = Sampler::kEuler;
  next.adapters = InNextPass(mine.state.adapters);
  if (config.projects_captions && ChangeInNextPass(mine.state.adapters)) {
    REEL_ASSIGN_OR_RETURN(next.texts, PreparedAgain(ops, model, mine, next.adapters));
    next.prompt = PromptOf(next.texts);
  }
  mine.steps_before = mine.step();
  mine.sizes = pass.sizes;
  mine.state = std::move(next);
  mine.generator = generator;
  mine.held.sound.clear();
  mine.second_pass.reset();
  return absl::OkStatus();
}

}  // namespace reel::model::ltx2
