// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/encode_stage.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/bridge/random.h"
#include "model/bridge/row_ops.h"
#include "model/ltx/refined_clip.h"
#include "model/ltx/request_conditions.h"
#include "model/refinement.h"
#include "model/text/text_notices.h"

namespace reel::model::ltx {
namespace {

absl::StatusOr<Schedule> ScheduleOf(const GenerationSpec& spec, const SchedulerConfig& scheduler,
                                    const DenoiseState& state) {
  if (!spec.timesteps.empty()) return GivenSchedule(scheduler, spec.timesteps);
  if (state.mode == Mode::kCondition && !scheduler.use_dynamic_shifting) {
    return LinearQuadraticSchedule(scheduler, spec.num_inference_steps);
  }
  return SpacedSchedule(scheduler, spec.num_inference_steps, state.shape.tokens());
}

LatentShape ShapeOf(PictureSize size, int num_frames) {
  return {(num_frames - 1) / kTemporal + 1, size.height / kSpatial, size.width / kSpatial};
}

}  // namespace

at::Generator GeneratorOf(const GenerationSpec& spec) {
  return at::detail::createCPUGenerator(spec.seed.value_or(0) & 0xffffffffu);
}

ClipPlaces PlacesOf(double frame_rate) {
  return {kTemporal, [frame_rate](const LatentShape& shape, int64_t frame_index) {
            return CausalCoordinates(shape, frame_rate, frame_index);
          }};
}

RopeTable RopeOf(const LtxModel& model, const ClipTokens& tokens) {
  return MakeRopeTable(tokens.coordinates, model.transformer.config().width()).To(model.device);
}

absl::StatusOr<std::unique_ptr<FamilyGeneration>> EncodeStage::Plan(
    const GenerationSpec& spec) const {
  if (spec.width % kSpatial != 0 || spec.height % kSpatial != 0 || spec.width < kSpatial ||
      spec.height < kSpatial || spec.num_frames < 1 || spec.num_frames % kTemporal != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the model cannot make a video of this size: ", spec.width, "x", spec.height, ", ",
        spec.num_frames, " frames; sides are multiples of 32, frames of 8, plus 1"));
  }
  // Pixels are kept where a second pass encodes the pictures again.
  const bool once = !RecipeOf(spec).second_pass.has_value() || spec.stop_after_pass.has_value() ||
                    RefinedClipOf(spec) != nullptr;
  auto mine = std::make_unique<LtxGeneration>(once ? WithoutPixels(spec) : spec, model_.device);
  DenoiseState& state = mine->state;
  // Latents of a source stay as they are.
  state.condition_noise = spec.holds_latents() ? 0 : spec.image_condition_noise_scale.value_or(0);
  REEL_RETURN_IF_ERROR(RefinedClipOf(spec) == nullptr ? PlanClip(spec, *mine)
                                                      : PlanRefinement(model_, card_, spec, *mine));
  state.step = state.first_step;
  state.cache = StepCache({.threshold = spec.cache.threshold.value_or(kCacheThreshold),
                           .most_reused = spec.cache.most_reused.value_or(kCacheMostReused)});
  state.stochastic = model_.scheduler.stochastic_sampling;
  state.generator = GeneratorOf(spec);
  state.other_generator = GeneratorOf(spec);
  mine->planned_tokens = state.shape.tokens();
  return mine;
}

absl::Status EncodeStage::PlanClip(const GenerationSpec& spec, LtxGeneration& mine) const {
  const Recipe recipe = RecipeOf(spec);
  DenoiseState& state = mine.state;
  REEL_ASSIGN_OR_RETURN(const PictureSize size, PlanPasses(recipe, mine));
  state.shape = ShapeOf(size, spec.num_frames);
  REEL_ASSIGN_OR_RETURN(state.schedule, ScheduleOf(spec, model_.scheduler, state));
  REEL_ASSIGN_OR_RETURN(mine.conditions, ConditionsOf(spec, size, kTemporal, model_.dtype));
  if (state.mode == Mode::kCondition) {
    state.first_step = FirstStep(state.schedule.steps(), spec.denoise_strength.value_or(1));
  }
  state.guidance = recipe.guidance;
  return absl::OkStatus();
}

absl::StatusOr<PictureSize> EncodeStage::PlanPasses(const Recipe& recipe,
                                                    LtxGeneration& mine) const {
  if (!recipe.second_pass.has_value()) {
    REEL_ASSIGN_OR_RETURN(mine.state.mode, ModeOf(mine.spec, model_.scheduler));
    return PictureSize{mine.spec.width, mine.spec.height};
  }
  mine.state.mode = Mode::kCondition;
  if (!model_.upsampler.has_value()) {
    return absl::FailedPreconditionError("the model has no latent upsampler for two passes");
  }
  REEL_ASSIGN_OR_RETURN(const PictureSize first,
                        FirstPassSize({mine.spec.width, mine.spec.height}));
  const int64_t frames = ShapeOf(first, mine.spec.num_frames).frames;
  REEL_ASSIGN_OR_RETURN(mine.second_pass,
                        PlanSecondPass(*recipe.second_pass, model_.scheduler, first, frames));
  const int64_t tokens = mine.second_pass->shape.tokens();
  if (tokens <= card_.limits.max_latent_tokens) return first;
  return absl::InvalidArgumentError(
      absl::StrCat("the second pass has too many latent tokens: ", tokens, ", the limit is ",
                   card_.limits.max_latent_tokens, "; choose a smaller size or fewer frames"));
}

absl::Status EncodeStage::Hold(LtxGeneration& mine, const PassState& source) const {
  const LatentShape& shape = mine.state.shape;
  REEL_ASSIGN_OR_RETURN(
      mine.held, HeldOf(mine.spec, source,
                        {.pictures = {1, channels(), shape.frames, shape.height, shape.width},
                         .sound = {},
                         .frames_per_latent = kTemporal,
                         .sound_per_second = 0}));
  if (!model_.decoder.is_conditioned() || !mine.held.decode_noise.empty()) {
    return absl::OkStatus();
  }
  if (mine.held.pictures.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("the state has no ", PassState::kDecodeNoise));
}

absl::Status EncodeStage::Restore(LtxGeneration& mine, const PassState& made) const {
  if (!mine.spec.is_promotion()) return Hold(mine, made);
  DenoiseState& state = mine.state;
  const LatentShape& shape = state.shape;
  REEL_ASSIGN_OR_RETURN(
      MadePasses passes,
      MadePassesOf(made, {1, channels(), shape.frames, shape.height, shape.width}, {}));
  REEL_ASSIGN_OR_RETURN(state.other_generator, passes.Take(LtxGeneration::kOtherGenerator));
  state.schedule = {};
  state.step = state.first_step = 0;
  mine.conditions.clear();  // those of the first pass
  mine.made = std::move(passes);
  return absl::OkStatus();
}

absl::Status EncodeStage::GoOn(LtxGeneration& mine, const Ops& ops) const {
  mine.state.tokens = {};
  mine.state.tokens.x = PackLatents(Upload(mine.made->latents, model_.device));
  REEL_RETURN_IF_ERROR(SecondPass(mine, ops));
  mine.made.reset();
  mine.ready = true;
  return absl::OkStatus();
}

absl::Status EncodeStage::Next(LtxGeneration& mine, const Ops& ops) const {
  const RowForm form = FormOf(ops.run());
  if (!RanksHaveLayersIn(model_, form)) return MakeLayersOfRanksIn(model_, form);
  if (!mine.has_adapters && !mine.spec.adapters.empty()) return Adapters(mine);
  if (!mine.has_text) return Text(mine, ops);
  if (mine.made.has_value()) return GoOn(mine, ops);
  if (mine.refined.has_value() && !mine.ready) {
    if (!EncodeRefined(ops, model_, mine)) return absl::OkStatus();
    BeginWindow(model_, mine);
    mine.ready = true;
    return absl::OkStatus();
  }
  if (mine.state.mode == Mode::kCondition && mine.conditions_done < mine.conditions.size()) {
    at::Generator& generator = mine.state.generator;
    mine.building->Add(Encode(ops, mine.conditions[mine.conditions_done++], generator), generator);
  } else if (!mine.ready) {
    FinishTokens(mine, ops);
  }
  return absl::OkStatus();
}

absl::Status EncodeStage::Adapters(LtxGeneration& mine) const {
  REEL_ASSIGN_OR_RETURN(mine.state.adapters, TakeAdapters(model_.adapter_shelf.get(), mine.spec));
  mine.has_adapters = true;
  return absl::OkStatus();
}

TextContext EncodeStage::Prepared(const Ops& ops, const AppliedAdapters& adapters,
                                  const at::Tensor& embeddings, const at::Tensor& mask) const {
  const at::Tensor scales = PlaceAdapters(model_.adapter_shelf.get(), adapters);
  return model_.transformer.Prepare(ops.WithAdapters(scales), embeddings, mask);
}

absl::Status EncodeStage::Text(LtxGeneration& mine, const Ops& ops) const {
  DenoiseState& state = mine.state;
  const bool masked = state.mode == Mode::kCondition;
  const int text_tokens = TextTokensOf(mine.spec, state.mode);
  const Guidance* later = mine.second_pass ? &mine.second_pass->recipe.guidance : nullptr;
  state.text_has_negative =
      state.guidance.uses_negative() || (later != nullptr && later->uses_negative());
  std::vector<std::string> texts = {mine.spec.prompt};
  if (state.text_has_negative) texts.insert(texts.begin(), mine.spec.negative_prompt.value_or(""));
  const size_t of_prompt = texts.size() - 1;
  if (state.guidance.uses_perturbed() || (later != nullptr && later->uses_perturbed())) {
    texts.push_back(mine.spec.prompt);  // once more, for the perturbed transformer
  }
  REEL_ASSIGN_OR_RETURN(const std::vector<Prompt> prompts,
                        model_.prompts.Encode(ops, texts, text_tokens, masked));
  AddText(TextRole::kPrompt, prompts[of_prompt].summary, text_tokens, mine.texts);
  if (state.text_has_negative) {
    AddText(TextRole::kNegativePrompt, prompts[0].summary, text_tokens, mine.texts);
  }
  std::vector<at::Tensor> embeddings, masks;
  for (const Prompt& prompt : prompts) {
    embeddings.push_back(prompt.embeddings);
    masks.push_back(prompt.mask);
  }
  const at::Tensor all = at::cat(embeddings), mask = at::cat(masks);
  state.text = Prepared(ops, state.adapters, all, mask);
  if (mine.goes_on() && ChangeInNextPass(state.adapters)) {
    mine.embeddings = all;
    mine.text_mask = mask;
  }
  mine.has_text = true;
  if (masked && !mine.made.has_value() && !mine.refined.has_value()) {
    mine.building.emplace(state.shape,
                          DrawNoise(state.shape, channels(), state.generator, model_.device),
                          PlacesOf(mine.spec.frame_rate));
  }
  return absl::OkStatus();
}

void EncodeStage::FinishTokens(LtxGeneration& mine, const Ops& ops) const {
  DenoiseState& state = mine.state;
  ClipTokens& tokens = state.tokens;
  switch (state.mode) {
    case Mode::kText:
      tokens.x = PackLatents(DrawNoise(state.shape, channels(), state.generator, model_.device));
      break;
    case Mode::kImage: {
      const at::Tensor sample = Sample(ops, mine.conditions[0].pixels, state.generator);
      const at::Tensor latent = model_.statistics.Normalize(sample.to(at::kFloat));
      tokens = TokensBehindPicture(
          latent, DrawNoise(state.shape, channels(), state.generator, latent.device()));
      break;
    }
    case Mode::kCondition:
      for (const HeldPiece& piece : mine.held.pictures) {
        mine.building->Add({.latents = Upload(piece.values, model_.device),
                            .is_picture = false,
                            .first_latent = piece.first},
                           state.generator);
      }
      tokens = mine.building->Finish();
      mine.building.reset();
      break;
  }
  if (!tokens.coordinates.defined()) {
    tokens.coordinates = PlainCoordinates(state.shape, mine.spec.frame_rate);
  }
  state.rope = RopeOf(model_, tokens);
  mine.planned_tokens = tokens.x.size(1);
  mine.conditions.clear();  // their pixels are in the tokens now
  mine.ready = true;
}

absl::Status EncodeStage::SecondPass(LtxGeneration& mine, const Ops& ops) const {
  const PlannedPass& pass = *mine.second_pass;
  DenoiseState next = mine.state;
  next.shape = pass.shape;
  next.schedule = pass.schedule;
  next.step = next.first_step = pass.first_step;
  next.times = {};
  next.cache.Forget();
  next.guidance = pass.recipe.guidance;
  next.generator = GeneratorOf(mine.spec);
  REEL_ASSIGN_OR_RETURN(const std::vector<PictureCondition> conditions,
                        ConditionsOf(mine.spec, pass.size, kTemporal, model_.dtype));
  const at::Tensor latents = UpsampleLatents(ops, *model_.upsampler, model_.statistics,
                                             pass.recipe.touch, mine.state.Latents());
  const at::Tensor noise = DrawNoise(pass.shape, channels(), next.generator, model_.device);
  const float sigma = pass.schedule.sigmas[static_cast<size_t>(pass.first_step)];
  ConditionTokens building(pass.shape, Noised(latents, noise, sigma),
                           PlacesOf(mine.spec.frame_rate));
  for (const PictureCondition& condition : conditions) {
    building.Add(Encode(ops, condition, next.generator), next.generator);
  }
  next.tokens = building.Finish();
  next.rope = RopeOf(model_, next.tokens);
  next.adapters = InNextPass(mine.state.adapters);
  if (mine.embeddings.defined()) {
    next.text = Prepared(ops, next.adapters, mine.embeddings, mine.text_mask);
  }
  mine.steps_before = mine.step();
  mine.planned_tokens = next.tokens.x.size(1);
  mine.state = std::move(next);
  mine.embeddings.reset();
  mine.text_mask.reset();
  mine.second_pass.reset();
  return absl::OkStatus();
}

at::Tensor EncodeStage::Sample(const Ops& ops, const at::Tensor& pixels,
                               at::Generator& generator) const {
  const at::Device device = model_.statistics.mean.device();
  const LatentMoments moments = model_.encoder.Encode(ops, pixels.to(device), model_.tiling);
  return moments.Sample(DrawNormal(moments.mean.sizes(), generator, moments.mean.options()));
}

EncodedCondition EncodeStage::Encode(const Ops& ops, const PictureCondition& condition,
                                     at::Generator& generator) const {
  // Normalised in the autoencoder's type here, unlike an image's.
  const at::Tensor sample = Sample(ops, condition.pixels, generator);
  return {.latents = model_.statistics.Normalize(sample).to(at::kFloat),
          .frame_index = condition.frame_index,
          .strength = condition.strength,
          .is_picture = condition.pixels.size(2) == 1};
}

int64_t EncodeStage::channels() const { return model_.transformer.config().in_channels; }

}  // namespace reel::model::ltx
