// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/encode_stage.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/bridge/row_ops.h"
#include "model/bridge/upload.h"
#include "model/ltx2/conditioning.h"
#include "model/ltx2/own_sound_latents.h"
#include "model/ltx2/presets.h"
#include "model/ltx2/second_pass.h"
#include "model/own_sound.h"
#include "model/reference_clip.h"
#include "model/refinement.h"
#include "model/text/text_notices.h"

namespace reel::model::ltx2 {
namespace {

// What an ancestral step's noise is drawn from, beside the request's seed.
constexpr uint64_t kStepSeed = 10'000;
constexpr uint64_t kSeedBits = 0xffffffff;

// In frames a second: speech is best at about 24, and 25 and 30 are as common.
constexpr double kLeastSpeechRate = 20, kMostSpeechRate = 30;

absl::StatusOr<Schedule> ScheduleOf(const GenerationSpec& spec, const SchedulerConfig& scheduler,
                                    int64_t tokens) {
  if (!spec.timesteps.empty()) return GivenSigmaSchedule(scheduler, spec.timesteps);
  return SpacedSchedule(scheduler, spec.num_inference_steps, tokens);
}

// From given steps on, whatever the model's own schedule is.
absl::StatusOr<Schedule> SecondScheduleOf(const std::vector<double>& timesteps) {
  return GivenSigmaSchedule(SchedulerConfig(), timesteps);
}

at::Generator GeneratorOf(const GenerationSpec& spec, uint64_t offset = 0) {
  return at::detail::createCPUGenerator((spec.seed.value_or(0) & kSeedBits) + offset);
}

}  // namespace

absl::StatusOr<std::unique_ptr<FamilyGeneration>> EncodeStage::Plan(
    const GenerationSpec& spec) const {
  REEL_RETURN_IF_ERROR(CheckShape(spec));
  REEL_RETURN_IF_ERROR(model_.prompts.CheckLength(spec.max_text_tokens));
  // A second pass encodes the pictures anew.
  const bool once = SecondPassOf(spec).empty() || spec.stop_after_pass.has_value() ||
                    RefinedClipOf(spec) != nullptr;
  auto mine = std::make_unique<Ltx2Generation>(once ? WithoutPixels(spec) : spec, model_.device);
  if (const Condition* const own = OwnSoundOf(spec)) {
    if (own->sound == nullptr) return absl::InvalidArgumentError("a sound has no decoded samples");
    mine->own_sound = own->sound;
  }
  REEL_RETURN_IF_ERROR(PlanClip(spec, *mine));
  REEL_RETURN_IF_ERROR(CheckTokens(*mine));
  const DenoiseState& state = mine->state;
  if (state.guidance.uses_negative()) {
    mine->unread.push_back(spec.negative_prompt.value_or(""));
  }
  mine->unread.push_back(spec.prompt);
  AddNotices(*mine);
  if (auto notice = OwnSoundNotice(spec)) mine->texts.notices.push_back(*std::move(notice));
  for (Notice& notice : RefinementNotices(spec)) mine->texts.notices.push_back(std::move(notice));
  for (Notice& notice : ReferenceNotices(spec, card_.temporal_multiple)) {
    mine->texts.notices.push_back(std::move(notice));
  }
  return mine;
}

absl::Status EncodeStage::PlanClip(const GenerationSpec& spec, Ltx2Generation& mine) const {
  if (RefinedClipOf(spec) != nullptr) {
    const Stretch first = RefinementWindows(spec, card_).front();
    GenerationSpec window = mine.spec;
    window.num_frames = static_cast<int>(first.end - first.begin - 1) * card_.temporal_multiple + 1;
    REEL_ASSIGN_OR_RETURN(const LatentSizes sizes, SizesOf(window, PassesOf(spec, card_).front()));
    return PlanRefinement(model_, card_, spec, sizes, mine);
  }
  REEL_RETURN_IF_ERROR(PlanPasses(mine));
  REEL_ASSIGN_OR_RETURN(mine.mode, ModeOf(spec));
  REEL_ASSIGN_OR_RETURN(mine.conditions, model_.ConditionsOf(spec, mine.sizes.video));
  mine.added_frames = AddedFrames(mine.conditions, model_.vae_config.temporal_compression);
  for (const PictureCondition& condition : mine.conditions) {
    if (!condition.reference.has_value()) continue;
    mine.reference_part = condition.reference->sides;
    mine.reference_frames = LatentFrames(condition, model_.vae_config.temporal_compression);
  }
  REEL_ASSIGN_OR_RETURN(mine.state.schedule,
                        ScheduleOf(spec, model_.scheduler, mine.TokensOf(mine.sizes.video)));
  mine.state.guidance = GuidanceOf(spec);
  mine.state.sampler = SamplerOf(spec);
  return absl::OkStatus();
}

absl::Status EncodeStage::PlanPasses(Ltx2Generation& mine) const {
  const std::vector<PassWork> passes = AllPassesOf(mine.spec, card_);
  REEL_ASSIGN_OR_RETURN(mine.sizes, SizesOf(mine.spec, passes.front()));
  const std::vector<double> timesteps = SecondPassOf(mine.spec);
  if (timesteps.empty()) return absl::OkStatus();
  if (!model_.upsampler.has_value() || passes.size() != 2) {
    return absl::FailedPreconditionError("the model has no latent upsampler for two passes");
  }
  PlannedPass second;
  REEL_ASSIGN_OR_RETURN(second.sizes, SizesOf(mine.spec, passes.back()));
  REEL_ASSIGN_OR_RETURN(second.schedule, SecondScheduleOf(timesteps));
  mine.second_pass = std::move(second);
  return absl::OkStatus();
}

absl::Status EncodeStage::CheckTokens(const Ltx2Generation& mine) const {
  const LatentSizes& largest = mine.second_pass ? mine.second_pass->sizes : mine.sizes;
  const int64_t tokens = mine.TokensOf(largest.video);
  if (tokens <= card_.limits.max_latent_tokens) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the video has too many latent tokens with its conditions: ", tokens,
                   ", the limit is ", card_.limits.max_latent_tokens,
                   "; leave out some inside the video, or choose a smaller one"));
}

void EncodeStage::AddNotices(Ltx2Generation& mine) const {
  const GenerationSpec& spec = mine.spec;
  const bool far = spec.frame_rate < kLeastSpeechRate || spec.frame_rate > kMostSpeechRate;
  const bool carries = mine.refined && mine.refined->carried_sound != nullptr;
  if (far && !carries && spec.sound.value_or(true)) {
    mine.texts.notices.push_back(
        {"FRAME_RATE_HURTS_SPEECH",
         absl::StrCat("Speech is best at about 24 frames a second; it may suffer at ",
                      spec.frame_rate, ".")});
  }
  const bool asked = spec.stg_scale.value_or(0) > 0 || spec.audio_stg_scale.value_or(0) > 0;
  if (!asked || model_.transformer.config().perturbs) return;
  mine.texts.notices.push_back(
      {"STG_IGNORED",
       "The model was not trained for guidance away from perturbed blocks; stg_scale and "
       "audio_stg_scale have no effect."});
}

absl::Status EncodeStage::CheckShape(const GenerationSpec& spec) const {
  const int side = SideMultiple(spec.preset, card_);
  const int least = std::max(card_.limits.min_size, LeastSide(spec.preset, card_));
  if (spec.width % side == 0 && spec.height % side == 0 && spec.width >= least &&
      spec.height >= least && spec.num_frames >= card_.limits.min_frames &&
      (spec.num_frames - 1) % card_.temporal_multiple == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the model cannot make a video of this size: ", spec.width, "x", spec.height, ", ",
      spec.num_frames, " frames; sides are multiples of ", side, " from ", least, " on, frames of ",
      card_.temporal_multiple, ", plus 1, from ", card_.limits.min_frames, " on"));
}

absl::StatusOr<LatentSizes> EncodeStage::SizesOf(const GenerationSpec& spec,
                                                 const PassWork& pass) const {
  const VaeConfig& vae = model_.vae_config;
  const AudioVaeConfig& sound = model_.sound.vae().config();
  LatentSizes sizes = {
      .video = {(spec.num_frames - 1) / vae.temporal_compression + 1,
                pass.height / vae.spatial_compression, pass.width / vae.spatial_compression},
      .video_channels = vae.latent_channels,
      .audio = 0,
      .audio_channels = sound.latent_channels,
      .mel_bins = sound.LatentBins()};
  REEL_ASSIGN_OR_RETURN(
      sizes.audio, AudioLatents(model_.transformer.config(), spec.num_frames, spec.frame_rate));
  return sizes;
}

absl::Status EncodeStage::Hold(Ltx2Generation& mine, const PassState& source) const {
  const LatentSizes& sizes = mine.sizes;
  const LatentShape& shape = sizes.video;
  REEL_ASSIGN_OR_RETURN(
      mine.held,
      HeldOf(mine.spec, source,
             {.pictures = {1, sizes.video_channels, shape.frames, shape.height, shape.width},
              .sound = {1, sizes.audio_channels, sizes.audio, sizes.mel_bins},
              .frames_per_latent = card_.temporal_multiple,
              .sound_per_second = model_.transformer.config().latents_per_second()}));
  if (!model_.diffusion_decoder.has_value()) return absl::OkStatus();
  for (const char* name : {Ltx2Generation::kGenerator, Ltx2Generation::kDecodeGenerator}) {
    const auto of_source = mine.held.generators.find(name);
    if (of_source != mine.held.generators.end()) mine.decode_generator = of_source->second;
  }
  return absl::OkStatus();
}

absl::Status EncodeStage::Restore(Ltx2Generation& mine, const PassState& made) const {
  if (!mine.spec.is_promotion()) return Hold(mine, made);
  const LatentSizes& sizes = mine.sizes;
  const LatentShape& shape = sizes.video;
  REEL_ASSIGN_OR_RETURN(
      MadePasses passes,
      MadePassesOf(made, {1, sizes.video_channels, shape.frames, shape.height, shape.width},
                   {1, sizes.audio_channels, sizes.audio, sizes.mel_bins}));
  for (const char* name : {Ltx2Generation::kGenerator, Ltx2Generation::kStepGenerator}) {
    if (passes.generators.count(name) > 0) continue;
    return absl::FailedPreconditionError(absl::StrCat("the state has no ", name));
  }
  mine.state.schedule = {};
  mine.conditions.clear();  // those of the first pass
  mine.made = std::move(passes);
  return absl::OkStatus();
}

absl::Status EncodeStage::Next(Ltx2Generation& mine, const Ops& ops) const {
  const RowForm form = FormOf(ops.run());
  if (!RanksHaveLayersIn(model_, form)) return MakeLayersOfRanksIn(model_, form);
  if (!mine.has_adapters && !mine.spec.adapters.empty()) {
    REEL_ASSIGN_OR_RETURN(mine.state.adapters, TakeAdapters(model_.adapter_shelf.get(), mine.spec));
    mine.has_adapters = true;
    return absl::OkStatus();
  }
  if (mine.connected.size() < mine.unread.size()) return ReadText(mine, ops);
  if (mine.own_sound != nullptr) {
    const int64_t latents = mine.refined ? mine.refined->sound.size(2) : mine.sizes.audio;
    mine.held.sound = LatentsOfSound(model_.sound.vae(), *mine.own_sound, latents, model_.device);
    mine.own_sound.reset();
    return absl::OkStatus();
  }
  if (mine.made.has_value()) return GoOn(mine, ops);
  if (mine.refined.has_value() && !mine.ready) return Refine(mine, ops);
  if (mine.encoded.size() < mine.conditions.size()) {
    const PictureCondition& next = mine.conditions[mine.encoded.size()];
    mine.encoded.push_back(EncodeCondition(ops, model_, next, mine.mode));
  } else if (!mine.ready) {
    Begin(mine, ops);
  }
  return absl::OkStatus();
}

absl::Status EncodeStage::ReadText(Ltx2Generation& mine, const Ops& ops) const {
  const size_t row = mine.connected.size();
  const bool is_prompt = row + 1 == mine.unread.size();
  const int length = mine.spec.max_text_tokens;
  REEL_ASSIGN_OR_RETURN(const ConnectedPrompt prompt,
                        model_.prompts.EncodeFor(mine.spec, ops, mine.unread[row]));
  AddText(is_prompt ? TextRole::kPrompt : TextRole::kNegativePrompt, prompt.summary, length,
          mine.texts);
  mine.connected.push_back(prompt.texts);
  return absl::OkStatus();
}

DenoiseState EncodeStage::FirstState(Ltx2Generation& mine, const Ops& ops) const {
  const Texts texts = Joined(mine.connected);
  const double frame_rate = mine.spec.frame_rate;
  if (mine.spec.holds_latents()) return HeldState(mine, ops, texts);
  if (mine.mode == Mode::kText) {
    return BeginTextToVideo(ops, model_.transformer, texts, mine.sizes, frame_rate, mine.generator);
  }
  const LatentShape& shape = mine.sizes.video;
  const at::Tensor empty = at::zeros({1, shape.tokens(), mine.sizes.video_channels},
                                     at::TensorOptions(model_.device).dtype(at::kFloat));
  const PinnedClip clip =
      PinnedBy(mine.encoded, model_.transformer.config(), shape, frame_rate, empty);
  const bool of_image = mine.mode == Mode::kImage;
  StreamTokens latents =
      of_image ? DrawNoise(mine.sizes, mine.generator, model_.device)
               : DrawTokenNoise(mine.sizes, clip.tokens.size(1), mine.generator, model_.device);
  latents.video = clip.Noised(latents.video, of_image ? 1 : mine.state.schedule.sigmas[0]);
  DenoiseState state = StateOf(ops, model_.transformer, texts, std::move(latents), clip.places);
  state.pins = clip.pins;
  state.references = clip.references;
  return state;
}

DenoiseState EncodeStage::HeldState(Ltx2Generation& mine, const Ops& ops,
                                    const Texts& texts) const {
  std::vector<EncodedCondition> pieces;
  for (const HeldPiece& piece : mine.held.pictures) {
    pieces.push_back({.latents = Upload(piece.values, model_.device),
                      .is_picture = false,
                      .first_latent = piece.first});
  }
  StreamTokens latents = DrawNoise(mine.sizes, mine.generator, model_.device);
  const PinnedClip clip = PinnedBy(pieces, model_.transformer.config(), mine.sizes.video,
                                   mine.spec.frame_rate, at::zeros_like(latents.video));
  latents.video = clip.pins.Held(latents.video);
  DenoiseState state = StateOf(ops, model_.transformer, texts, std::move(latents), clip.places);
  state.pins = clip.pins;
  state.pins.exact = true;
  mine.held.pictures.clear();
  return state;
}

void EncodeStage::Begin(Ltx2Generation& mine, const Ops& ops) const {
  mine.generator = GeneratorOf(mine.spec);
  const at::Tensor scales = PlaceAdapters(model_.adapter_shelf.get(), mine.state.adapters);
  DenoiseState begun = FirstState(mine, ops.WithAdapters(scales));
  HoldSound(mine.held.sound, begun);
  if (!mine.goes_on()) mine.held.sound.clear();
  begun.step_generator = GeneratorOf(mine.spec, kStepSeed);
  SetState(mine, std::move(begun));
  mine.connected.clear();
  mine.unread.clear();
  mine.conditions.clear();  // their pixels are in the tokens now
  mine.encoded.clear();
  mine.ready = true;
}

absl::Status EncodeStage::GoOn(Ltx2Generation& mine, const Ops& ops) const {
  const MadePasses& made = *mine.made;
  const at::Tensor scales = PlaceAdapters(model_.adapter_shelf.get(), mine.state.adapters);
  StreamTokens latents = {PackLatents(Upload(made.latents, model_.device)),
                          PackAudio(Upload(made.audio_latents, model_.device))};
  DenoiseState first = StateOf(
      ops.WithAdapters(scales), model_.transformer, Joined(mine.connected), std::move(latents),
      VideoPlaces(model_.transformer.config(), mine.sizes.video, mine.spec.frame_rate));
  first.step_generator = made.generators.at(Ltx2Generation::kStepGenerator).clone();
  SetState(mine, std::move(first));
  mine.generator = made.generators.at(Ltx2Generation::kGenerator).clone();
  REEL_RETURN_IF_ERROR(BeginSecondPass(ops, model_, mine));
  mine.connected.clear();
  mine.unread.clear();
  mine.made.reset();
  mine.ready = true;
  return absl::OkStatus();
}

absl::Status EncodeStage::Refine(Ltx2Generation& mine, const Ops& ops) const {
  if (!EncodeRefined(ops, model_, mine)) return absl::OkStatus();
  const at::Tensor scales = PlaceAdapters(model_.adapter_shelf.get(), mine.state.adapters);
  mine.generator = GeneratorOf(mine.spec);
  const auto options = at::TensorOptions(model_.device).dtype(at::kFloat);
  StreamTokens none = {
      at::zeros({1, mine.sizes.video.tokens(), mine.sizes.video_channels}, options),
      at::zeros({1, mine.sizes.audio, mine.sizes.audio_channels * mine.sizes.mel_bins}, options)};
  DenoiseState begun =
      StateOf(ops.WithAdapters(scales), model_.transformer, Joined(mine.connected), std::move(none),
              VideoPlaces(model_.transformer.config(), mine.sizes.video, mine.spec.frame_rate));
  begun.step_generator = GeneratorOf(mine.spec, kStepSeed);
  SetState(mine, std::move(begun));
  BeginWindow(model_, mine);
  mine.connected.clear();
  mine.unread.clear();
  mine.ready = true;
  return absl::OkStatus();
}

void EncodeStage::SetState(Ltx2Generation& mine, DenoiseState begun) const {
  begun.adapters = mine.state.adapters;
  begun.schedule = mine.state.schedule;
  begun.guidance = mine.state.guidance;
  begun.sampler = mine.state.sampler;
  const bool marks = MarksBeginnings(mine.spec) && model_.transformer.config().marks_keyframes;
  if (marks) begun.keyframe_tokens = mine.sizes.video.height * mine.sizes.video.width;
  mine.state = std::move(begun);
}

}  // namespace reel::model::ltx2
