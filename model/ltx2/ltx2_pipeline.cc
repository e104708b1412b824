// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/ltx2_pipeline.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/bridge/torch_device.h"
#include "model/bridge/torch_guard.h"
#include "model/family/family_pipeline.h"
#include "model/ltx2/denoise_step.h"
#include "model/ltx2/ltx2_card.h"
#include "model/ltx2/ltx2_generation.h"
#include "model/ltx2/ltx2_model.h"
#include "model/ltx2/presets.h"
#include "model/ltx2/second_pass.h"
#include "model/pass_work.h"
#include "model/text/text_notices.h"

namespace reel::model::ltx2 {
namespace {

// What an ancestral step's noise is drawn from, beside the request's seed.
constexpr uint64_t kStepSeed = 10'000;
constexpr uint64_t kSeedBits = 0xffffffff;

Ltx2Generation& Mine(FamilyGeneration& generation) {
  return static_cast<Ltx2Generation&>(generation);
}

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

Texts Joined(const std::vector<Texts>& rows) {
  std::vector<at::Tensor> video, audio;
  for (const Texts& row : rows) {
    video.push_back(row.video);
    audio.push_back(row.audio);
  }
  return {at::cat(video), at::cat(audio)};
}

class Ltx2Walk final : public StepWalk {
 public:
  Ltx2Walk(const Transformer& transformer, DenoiseState& state) : step_(transformer, state) {}
  bool Next(const Ops& ops, size_t blocks) override { return step_.Next(ops, blocks); }

 private:
  DenoiseStep step_;
};

class Ltx2Pipeline final : public FamilyPipeline {
 public:
  Ltx2Pipeline(std::unique_ptr<Ltx2Model> model, ModelCard card)
      : FamilyPipeline(std::move(card), model->device), model_(std::move(model)) {}

  PromptCounts TakePromptCounts() override { return model_->prompts.TakeCounts(); }
  int64_t kept_bytes() const override { return model_->prompts.remembered_bytes(); }

 private:
  void Forget() override { model_->prompts.Forget(); }

  absl::StatusOr<std::unique_ptr<FamilyGeneration>> Plan(const GenerationSpec& spec) override {
    REEL_RETURN_IF_ERROR(CheckShape(spec));
    REEL_RETURN_IF_ERROR(model_->prompts.CheckLength(spec.max_text_tokens));
    auto mine = std::make_unique<Ltx2Generation>(spec, model_->device);
    REEL_RETURN_IF_ERROR(PlanPasses(*mine));
    DenoiseState& state = mine->state;
    REEL_ASSIGN_OR_RETURN(state.schedule,
                          ScheduleOf(spec, model_->scheduler, mine->sizes.video.tokens()));
    state.guidance = GuidanceOf(spec);
    state.sampler = SamplerOf(spec);
    if (state.guidance.uses_negative()) {
      mine->unread.push_back(spec.negative_prompt.value_or(""));
    }
    mine->unread.push_back(spec.prompt);
    AddNotices(spec, *mine);
    return mine;
  }

  absl::Status PlanPasses(Ltx2Generation& mine) const {
    const std::vector<PassWork> passes = PassesOf(mine.spec, card());
    REEL_ASSIGN_OR_RETURN(mine.sizes, SizesOf(mine.spec, passes.front()));
    const std::vector<double> timesteps = SecondPassOf(mine.spec);
    if (timesteps.empty()) return absl::OkStatus();
    if (!model_->upsampler.has_value() || passes.size() != 2) {
      return absl::FailedPreconditionError("the model has no latent upsampler for two passes");
    }
    PlannedPass second;
    REEL_ASSIGN_OR_RETURN(second.sizes, SizesOf(mine.spec, passes.back()));
    REEL_ASSIGN_OR_RETURN(second.schedule, SecondScheduleOf(timesteps));
    mine.second_pass = std::move(second);
    return absl::OkStatus();
  }

  void AddNotices(const GenerationSpec& spec, Ltx2Generation& mine) const {
    const bool asked = spec.stg_scale.value_or(0) > 0 || spec.audio_stg_scale.value_or(0) > 0;
    if (!asked || model_->transformer.config().perturbs) return;
    mine.texts.notices.push_back(
        {"STG_IGNORED",
         "The model was not trained for guidance away from perturbed blocks; stg_scale and "
         "audio_stg_scale have no effect."});
  }

  absl::Status CheckShape(const GenerationSpec& spec) const {
    const ModelCard& card = this->card();
    const int side = SideMultiple(spec.preset, card);
    const int least = std::max(card.limits.min_size, LeastSide(spec.preset, card));
    if (spec.width % side == 0 && spec.height % side == 0 && spec.width >= least &&
        spec.height >= least && spec.num_frames >= 1 &&
        (spec.num_frames - 1) % card.temporal_multiple == 0) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("the model cannot make a video of this size: ", spec.width, "x", spec.height,
                     ", ", spec.num_frames, " frames; sides are multiples of ", side, " from ",
                     least, " on, frames of ", card.temporal_multiple, ", plus 1"));
  }

  absl::StatusOr<LatentSizes> SizesOf(const GenerationSpec& spec, const PassWork& pass) const {
    const VaeConfig& vae = model_->vae_config;
    const AudioVaeConfig& sound = model_->sound.vae().config();
    LatentSizes sizes = {
        .video = {(spec.num_frames - 1) / vae.temporal_compression + 1,
                  pass.height / vae.spatial_compression, pass.width / vae.spatial_compression},
        .video_channels = vae.latent_channels,
        .audio = 0,
        .audio_channels = sound.latent_channels,
        .mel_bins = sound.LatentBins()};
    REEL_ASSIGN_OR_RETURN(
        sizes.audio, AudioLatents(model_->transformer.config(), spec.num_frames, spec.frame_rate));
    return sizes;
  }

  // A text at a time, then the noise.
  absl::Status EncodeNext(FamilyGeneration& generation, const Ops& ops) override {
    Ltx2Generation& mine = Mine(generation);
    if (mine.connected.size() < mine.unread.size()) return ReadText(mine, ops);
    if (!mine.ready) Begin(mine, ops);
    return absl::OkStatus();
  }

  absl::Status ReadText(Ltx2Generation& mine, const Ops& ops) {
    const size_t row = mine.connected.size();
    const bool is_prompt = row + 1 == mine.unread.size();
    const int length = mine.spec.max_text_tokens;
    REEL_ASSIGN_OR_RETURN(const ConnectedPrompt prompt,
                          model_->prompts.Encode(ops, mine.unread[row], length));
    AddText(is_prompt ? TextRole::kPrompt : TextRole::kNegativePrompt, prompt.summary, length,
            mine.texts);
    mine.connected.push_back(prompt.texts);
    return absl::OkStatus();
  }

  void Begin(Ltx2Generation& mine, const Ops& ops) {
    at::Generator generator = GeneratorOf(mine.spec);
    DenoiseState begun = BeginTextToVideo(ops, model_->transformer, Joined(mine.connected),
                                          mine.sizes, mine.spec.frame_rate, generator);
    mine.generator = generator;
    begun.schedule = mine.state.schedule;
    begun.guidance = mine.state.guidance;
    begun.sampler = mine.state.sampler;
    begun.step_generator = GeneratorOf(mine.spec, kStepSeed);
    mine.state = std::move(begun);
    mine.connected.clear();
    mine.unread.clear();
    mine.ready = true;
  }

  absl::Status BeginPass(FamilyGeneration& generation, const Ops& ops) override {
    BeginSecondPass(ops, *model_, Mine(generation));
    return absl::OkStatus();
  }

  // Videos are equal in bits whoever else is there: each steps alone.
  bool CanJoin(const FamilyGeneration&, const FamilyGeneration&,
               const kernels::Execution&) const override {
    return false;
  }
  void StepTogether(Batch batch, const Ops& ops) override {
    DenoiseStep(model_->transformer, Mine(*batch[0]).state).Finish(ops);
  }
  // Of one call: a step of several has as many times the pieces.
  size_t StopsOfStep(const kernels::Execution&) const override {
    return static_cast<size_t>(model_->transformer.config().num_layers);
  }
  std::unique_ptr<StepWalk> BeginWalk(Batch batch, const Ops&) override {
    return std::make_unique<Ltx2Walk>(model_->transformer, Mine(*batch[0]).state);
  }

  // The middle of the clip: its latent frame decoded alone, so that it costs a single frame.
  at::Tensor PreviewPictures(const FamilyGeneration& generation, const Ops& ops) override {
    const at::Tensor latents = generation.PictureLatents();
    return Decode(latents.narrow(2, latents.size(2) / 2, 1), ops)->Next(ops).x;
  }

  absl::Status PushSound(FamilyGeneration& generation, const Ops&, FrameSink& sink) override {
    REEL_ASSIGN_OR_RETURN(const at::Tensor samples,
                          model_->sound.Samples(Mine(generation).state.latents.audio));
    const at::Tensor interleaved = samples.t().contiguous();
    return sink.PushSamples(
        {card().sound,
         {interleaved.const_data_ptr<float>(), static_cast<size_t>(interleaved.numel())}});
  }

  FrameSourcePtr StartDecode(FamilyGeneration& generation, const Ops& ops) override {
    return Decode(generation.PictureLatents(), ops);
  }

  FrameSourcePtr Decode(const at::Tensor& latents, const Ops& ops) const {
    // The decoder injects no noise.
    at::Generator unused = at::detail::createCPUGenerator(0);
    const at::Tensor decoded = model_->statistics.Denormalize(latents).to(model_->dtype);
    return model_->decoder.Decode(ops, decoded, {{}, 0, unused});
  }

  const std::unique_ptr<Ltx2Model> model_;
};

ModelCard WholeCardOf(const Ltx2Model& model, const LoadOptions& options) {
  ModelCard card = CardOf(model, options.name);
  if (options.random_weights.has_value()) card.family += ", random weights";
  return card;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Pipeline>> LoadLtx2Pipeline(const LoadOptions& options,
                                                           kernels::DeviceStream stream) {
  return TorchGuard([&]() -> absl::StatusOr<std::unique_ptr<Pipeline>> {
    REEL_ASSIGN_OR_RETURN(const at::Device device, TorchDeviceOf(stream));
    const ModelScope scope(device);
    REEL_ASSIGN_OR_RETURN(std::unique_ptr<Ltx2Model> model, LoadLtx2Model(options, device));
    ModelCard card = WholeCardOf(*model, options);
    return std::make_unique<Ltx2Pipeline>(std::move(model), std::move(card));
  });
}

absl::StatusOr<ModelCard> CheckLtx2Model(const LoadOptions& options, kernels::DeviceStream stream) {
  return TorchGuard([&]() -> absl::StatusOr<ModelCard> {
    REEL_ASSIGN_OR_RETURN(const at::Device device, TorchDeviceOf(stream));
    const ModelScope scope(device);
    REEL_ASSIGN_OR_RETURN(const std::unique_ptr<Ltx2Model> model,
                          LoadLtx2Model(options, device, Values::kNone));
    return WholeCardOf(*model, options);
  });
}

}  // namespace reel::model::ltx2
