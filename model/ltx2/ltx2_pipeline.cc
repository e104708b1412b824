// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/ltx2_pipeline.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/base/status_macros.h"
#include "model/bridge/torch_device.h"
#include "model/bridge/torch_guard.h"
#include "model/family/card_file.h"
#include "model/family/family_pipeline.h"
#include "model/fit_model.h"
#include "model/frames/frame_chain.h"
#include "model/frames/later_frames.h"
#include "model/ltx2/denoise_step.h"
#include "model/ltx2/encode_stage.h"
#include "model/ltx2/ltx2_card.h"
#include "model/ltx2/ltx2_generation.h"
#include "model/ltx2/ltx2_model.h"
#include "model/ltx2/second_pass.h"

namespace reel::model::ltx2 {
namespace {

// Added to the request's seed for the noise of a refined clip's diffusion decoder.
constexpr uint64_t kDecodeSeed = 20'000;

Ltx2Generation& Mine(FamilyGeneration& generation) {
  return static_cast<Ltx2Generation&>(generation);
}
const Ltx2Generation& Mine(const FamilyGeneration& generation) {
  return static_cast<const Ltx2Generation&>(generation);
}

class Ltx2Walk final : public StepWalk {
 public:
  Ltx2Walk(const TransformerRanks& ranks, const std::vector<DenoiseState*>& states,
           AdapterColumns* columns)
      : step_(ranks, states, columns) {}
  bool Next(const Ops& ops, size_t blocks) override { return step_.Next(ops, blocks); }

 private:
  DenoiseStep step_;
};

class Ltx2Pipeline final : public FamilyPipeline {
 public:
  Ltx2Pipeline(std::unique_ptr<Ltx2Model> model, ModelCard card)
      : FamilyPipeline(std::move(card), model->device), model_(std::move(model)) {}

  PromptCounts TakePromptCounts() override { return model_->prompts.TakeCounts(); }
  AdapterCounts TakeAdapterCounts() override {
    return model_->adapter_shelf == nullptr ? AdapterCounts() : model_->adapter_shelf->TakeCounts();
  }
  int64_t adapter_bytes() const override {
    return model_->adapter_shelf == nullptr ? 0 : model_->adapter_shelf->kept_bytes();
  }
  int64_t kept_bytes() const override {
    return model_->prompts.remembered_bytes() + adapter_bytes();
  }

 private:
  void Forget() override {
    model_->prompts.Forget();
    if (model_->adapter_shelf != nullptr) model_->adapter_shelf->Forget();
  }

  absl::StatusOr<std::unique_ptr<FamilyGeneration>> Plan(const GenerationSpec& spec) override {
    return encode_stage().Plan(spec);
  }
  absl::Status Restore(FamilyGeneration& generation, const PassState& made) override {
    return encode_stage().Restore(Mine(generation), made);
  }
  absl::Status EncodeNext(FamilyGeneration& generation, const Ops& ops) override {
    return encode_stage().Next(Mine(generation), ops);
  }
  absl::Status BeginPass(FamilyGeneration& generation, const Ops& ops) override {
    Ltx2Generation& mine = Mine(generation);
    if (!mine.refined) return BeginSecondPass(ops, *model_, mine);
    BeginWindow(*model_, mine);
    return absl::OkStatus();
  }

  // On a CPU a video's bits must not depend on who else is there: libraries add in an order that
  // depends on how many rows there are.
  bool CanJoin(const FamilyGeneration& first, const FamilyGeneration& other,
               const kernels::Execution& run) const override {
    const DenoiseState &a = Mine(first).state, &b = Mine(other).state;
    return !model_->device.is_cpu() && MayStepTogether(a.adapters, b.adapters, run) &&
           CanShareStep(a, b);
  }
  bool FitsIn(Batch batch, const FamilyGeneration& other) const override {
    if (model_->adapter_shelf == nullptr) return true;
    std::vector<const AppliedAdapters*> jobs = {&Mine(other).state.adapters};
    for (const FamilyGeneration* generation : batch) {
      jobs.push_back(&Mine(*generation).state.adapters);
    }
    return model_->adapter_shelf->columns().HaveRoomFor(jobs);
  }
  void StepTogether(Batch batch, const Ops& ops) override {
    DenoiseStep(model_->ranks(), StatesOf(batch), Columns()).Finish(ops);
  }
  AdapterColumns* Columns() const {
    return model_->adapter_shelf == nullptr ? nullptr : &model_->adapter_shelf->columns();
  }
  static std::vector<DenoiseState*> StatesOf(Batch batch) {
    std::vector<DenoiseState*> states;
    for (FamilyGeneration* generation : batch) states.push_back(&Mine(*generation).state);
    return states;
  }
  // Of one call: a step of several has as many times the pieces.
  size_t StopsOfStep(const kernels::Execution&) const override {
    return static_cast<size_t>(model_->transformer.config().num_layers);
  }
  std::unique_ptr<StepWalk> BeginWalk(Batch batch, const Ops&) override {
    return std::make_unique<Ltx2Walk>(model_->ranks(), StatesOf(batch), Columns());
  }

  static at::Tensor MiddleOf(const FamilyGeneration& generation) {
    if (Mine(generation).refined) return RefinedMiddle(Mine(generation)).to(generation.device);
    const at::Tensor latents = generation.PictureLatents();
    return latents.narrow(2, latents.size(2) / 2, 1);
  }

  // The middle of the clip: its latent frame decoded alone, so that it costs a single frame.
  at::Tensor PreviewPictures(const FamilyGeneration& generation, const Ops& ops) override {
    at::Generator unused = NoNoise();
    return model_->decoder.Decode(ops, Decodable(MiddleOf(generation)), {{}, 0, unused})
        ->Next(ops)
        .x;
  }

  absl::Status PushSound(FamilyGeneration& generation, int piece, const Ops&,
                         FrameSink& sink) override {
    const auto& refined = Mine(generation).refined;
    if (refined && refined->carried_sound != nullptr) {
      return sink.PushSamples({card().sound, refined->carried_sound->interleaved});
    }
    const at::Tensor tokens = PackAudio(generation.SoundLatents());
    Stretch part = {0, tokens.size(1)};
    if (refined) part = SoundPieces(*refined)[static_cast<size_t>(piece)];
    REEL_ASSIGN_OR_RETURN(const at::Tensor samples,
                          model_->sound.Samples(tokens, part.begin, part.end));
    const at::Tensor interleaved = samples.t().contiguous();
    return sink.PushSamples(
        {card().sound,
         {interleaved.const_data_ptr<float>(), static_cast<size_t>(interleaved.numel())},
         piece + 1 == generation.sound_pieces()});
  }

  FrameSourcePtr StartDecode(FamilyGeneration& generation, const Ops& ops) override {
    if (model_->diffusion_decoder.has_value()) return StartDiffusionDecode(Mine(generation), ops);
    if (Mine(generation).refined) {
      at::Generator unused = NoNoise();
      const at::Tensor like = RefinedMiddle(Mine(generation)).to(model_->device, model_->dtype);
      return model_->decoder.DecodeFrom(ops, RefinedSource(*model_, Mine(generation)), like,
                                        {{}, 0, unused});
    }
    const at::Tensor own = generation.PictureLatents();
    const at::Tensor whole = Behind(Mine(generation).held.before, own);
    const int64_t unseen = (whole.size(2) - own.size(2)) * model_->vae_config.temporal_compression;
    at::Generator unused = NoNoise();
    return WithoutFirst(unseen, DecodeOnRanks(*model_, ops, Decodable(whole), {{}, 0, unused}));
  }

  // The decoder's noise comes from the request's generator, after all draws for the latents. A
  // refined clip sends frames before its last draws, so its noise has a generator of its own.
  FrameSourcePtr StartDiffusionDecode(const Ltx2Generation& mine, const Ops& ops) const {
    const DiffusionDecoder& decoder = *model_->diffusion_decoder;
    if (mine.refined) {
      LatentShape clip = mine.sizes.video;
      clip.frames = mine.refined->pictures.size();
      const at::Generator own =
          at::detail::createCPUGenerator(mine.spec.seed.value_or(0) + kDecodeSeed);
      return decoder.Decode(ops, RefinedSource(*model_, mine),
                            PictureNoise::ByFrame(decoder.NoiseSizes(clip), decoder.dtype(), own));
    }
    const at::Tensor own = mine.PictureLatents();
    const at::Tensor whole = Behind(mine.held.before, own);
    const LatentShape clip = {whole.size(2), whole.size(3), whole.size(4)};
    return WithoutFirst(
        (clip.frames - own.size(2)) * model_->vae_config.temporal_compression,
        decoder.Decode(ops, LatentSource(Decodable(whole), clip.frames),
                       PictureNoise::OfClip(decoder.NoiseSizes(clip), decoder.dtype(),
                                            mine.noise_generator())));
  }

  // The decoder injects no noise.
  static at::Generator NoNoise() { return at::detail::createCPUGenerator(0); }
  at::Tensor Decodable(const at::Tensor& latents) const {
    return model_->statistics.Denormalize(latents).to(model_->dtype);
  }

  EncodeStage encode_stage() { return {*model_, card()}; }

  const std::unique_ptr<Ltx2Model> model_;
};

absl::StatusOr<ModelCard> WholeCardOf(const Ltx2Model& model, const LoadOptions& options) {
  ModelCard card = CardOf(model, options.name);
  REEL_RETURN_IF_ERROR(ApplyCardFile(options.path, card));
  if (options.random_weights.has_value()) card.family += ", random weights";
  return card;
}

// Nullopt: the options ask for none.
absl::StatusOr<std::optional<FitPlan>> PlanOf(const LoadOptions& options, at::Device device) {
  if (!WantsPlan(options)) return std::nullopt;
  REEL_ASSIGN_OR_RETURN(const std::unique_ptr<Ltx2Model> shapes,
                        LoadLtx2Model(ForShapes(options), device, Values::kNone));
  REEL_ASSIGN_OR_RETURN(const ModelCard card, WholeCardOf(*shapes, options));
  return PlanFor(options, SizesOf(*shapes), card);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Pipeline>> LoadLtx2Pipeline(const LoadOptions& options,
                                                           kernels::DeviceStream stream) {
  return TorchGuard([&]() -> absl::StatusOr<std::unique_ptr<Pipeline>> {
    REEL_ASSIGN_OR_RETURN(const at::Device device, TorchDeviceOf(stream));
    const ModelScope scope(device);
    REEL_ASSIGN_OR_RETURN(const std::optional<FitPlan> plan, PlanOf(options, device));
    REEL_ASSIGN_OR_RETURN(const FittedLoad fitted, FittedLoad::Make(plan, device));
    REEL_ASSIGN_OR_RETURN(std::unique_ptr<Ltx2Model> model,
                          LoadLtx2Model(options, device, Values::kStored, fitted));
    REEL_ASSIGN_OR_RETURN(ModelCard card, WholeCardOf(*model, options));
    if (plan.has_value()) ApplyPlan(*plan, SizesOf(*model), card);
    return std::make_unique<Ltx2Pipeline>(std::move(model), std::move(card));
  });
}

absl::StatusOr<ModelCard> CheckLtx2Model(const LoadOptions& options, kernels::DeviceStream stream) {
  return TorchGuard([&]() -> absl::StatusOr<ModelCard> {
    REEL_ASSIGN_OR_RETURN(const at::Device device, TorchDeviceOf(stream));
    const ModelScope scope(device);
    REEL_ASSIGN_OR_RETURN(const std::unique_ptr<Ltx2Model> model,
                          LoadLtx2Model(options, device, Values::kNone));
    REEL_ASSIGN_OR_RETURN(ModelCard card, WholeCardOf(*model, options));
    if (!WantsPlan(options)) return card;
    const WeightSizes sizes = SizesOf(*model);
    REEL_ASSIGN_OR_RETURN(const FitPlan plan, PlanFor(options, sizes, card));
    ApplyPlan(plan, sizes, card);
    return card;
  });
}

}  // namespace reel::model::ltx2
