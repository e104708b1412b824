// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/ltx_pipeline.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/bridge/framework_facts.h"
#include "model/bridge/step_reuse.h"
#include "model/bridge/torch_device.h"
#include "model/bridge/torch_guard.h"
#include "model/family/card_file.h"
#include "model/family/family_pipeline.h"
#include "model/fit_model.h"
#include "model/frames/later_frames.h"
#include "model/frames/vae_tiles.h"
#include "model/ltx/decode_noise.h"
#include "model/ltx/denoiser.h"
#include "model/ltx/encode_stage.h"
#include "model/ltx/ltx_card.h"
#include "model/ltx/ltx_generation.h"
#include "model/ltx/ltx_model.h"
#include "model/ltx/refined_clip.h"
#include "model/ltx/step_groups.h"
#include "model/vae/group_decode.h"

namespace reel::model::ltx {
namespace {

// Size of a decoding piece, which is at least one latent frame. On a CPU it is no more; a GPU needs
// more than a small frame at once. The early layers have small frames and take a clip of usual
// length whole, which takes less time than a step. The late layers take a piece that takes a good
// part of a step at most.
constexpr int64_t kDeviceEarlyPixels = int64_t{128} << 20;
constexpr int64_t kDeviceLatePixels = int64_t{16} << 20;
// Of the decoder, for latents that still have some noise.
constexpr double kPreviewTime = 0.05;

LtxGeneration& Mine(FamilyGeneration& generation) {
  return static_cast<LtxGeneration&>(generation);
}
const LtxGeneration& Mine(const FamilyGeneration& generation) {
  return static_cast<const LtxGeneration&>(generation);
}

// Each number of jobs that share a step has graphs of its own, with copies of their texts: of 16
// clips of 256x256x25 0.9 GB. All of them are freed when memory is short.
int64_t GraphBytesOf(const LoadOptions& options, at::Device device) {
  const MemoryReader read = TorchMemoryReader({.device = device.is_cuda() ? device.index() : -1});
  const int64_t total = read == nullptr ? 0 : read().total;
  const int64_t memory = options.device_memory > 0 ? options.device_memory : total;
  return std::max(VelocityGraphs::Cache::kMostBytes, memory / 16);
}

std::unique_ptr<Denoiser> MakeDenoiser(const LtxModel& model, int64_t graph_bytes) {
  auto recorder = MakeGraphRecorder(model.device);
  if (model.crew == nullptr) {
    AdapterColumns* const columns =
        model.adapter_shelf == nullptr ? nullptr : &model.adapter_shelf->columns();
    return std::make_unique<Denoiser>(model.transformer, std::move(recorder), graph_bytes, columns);
  }
  return std::make_unique<Denoiser>(TransformersOf<Transformer>(model), std::move(recorder),
                                    *model.crew);
}

class LtxWalk final : public StepWalk {
 public:
  explicit LtxWalk(std::unique_ptr<Denoiser::Walk> walk) : walk_(std::move(walk)) {}
  bool Next(const Ops& ops, size_t blocks) override { return walk_->Next(ops, blocks); }

 private:
  const std::unique_ptr<Denoiser::Walk> walk_;
};

class LtxPipeline final : public FamilyPipeline {
 public:
  LtxPipeline(std::unique_ptr<LtxModel> model, ModelCard card, int64_t graph_bytes)
      : FamilyPipeline(std::move(card), model->device),
        model_(std::move(model)),
        denoiser_(MakeDenoiser(*model_, graph_bytes)) {}

  PromptCounts TakePromptCounts() override { return model_->prompts.TakeCounts(); }
  AdapterCounts TakeAdapterCounts() override {
    return model_->adapter_shelf == nullptr ? AdapterCounts() : model_->adapter_shelf->TakeCounts();
  }
  int64_t adapter_bytes() const override {
    return model_->adapter_shelf == nullptr ? 0 : model_->adapter_shelf->kept_bytes();
  }
  int64_t kept_bytes() const override {
    return model_->prompts.cached_bytes() + denoiser_->kept_bytes() + adapter_bytes();
  }

 private:
  void Forget() override {
    model_->prompts.Forget();
    denoiser_->ForgetKept();
    if (model_->adapter_shelf != nullptr) model_->adapter_shelf->Forget();
  }

  absl::StatusOr<std::unique_ptr<FamilyGeneration>> Plan(const GenerationSpec& resolved) override {
    return encode_stage().Plan(resolved);
  }
  absl::Status Restore(FamilyGeneration& generation, const PassState& made) override {
    return encode_stage().Restore(Mine(generation), made);
  }
  absl::Status EncodeNext(FamilyGeneration& generation, const Ops& ops) override {
    return encode_stage().Next(Mine(generation), ops);
  }
  absl::Status BeginPass(FamilyGeneration& generation, const Ops& ops) override {
    if (!Mine(generation).refined) return encode_stage().SecondPass(Mine(generation), ops);
    BeginWindow(*model_, Mine(generation));
    return absl::OkStatus();
  }

  // On a CPU one after the other: libraries add in an order that depends on the number of rows, and
  // each step must equal the step of that video alone. On a GPU all that can share a call of the
  // transformer do, whatever their sizes. A group of devices, and steps that may be skipped, take
  // one size at a time.
  bool CanJoin(const FamilyGeneration& first, const FamilyGeneration& other,
               const kernels::Execution& run) const override {
    if (model_->device.is_cpu()) return false;
    const DenoiseState &a = Mine(first).state, &b = Mine(other).state;
    if (!MayStepTogether(a.adapters, b.adapters, run)) return false;
    return StopsOfStep(run) > 0 ? CanPackStep(a, b) : CanShareStep(a, b);
  }

  bool FitsIn(Batch batch, const FamilyGeneration& other) const override {
    if (model_->adapter_shelf == nullptr) return true;
    std::vector<const AppliedAdapters*> jobs = {&Mine(other).state.adapters};
    for (const FamilyGeneration* generation : batch) {
      jobs.push_back(&Mine(*generation).state.adapters);
    }
    return model_->adapter_shelf->columns().HaveRoomFor(jobs);
  }

  void StepTogether(Batch batch, const Ops& ops) override { denoiser_->Step(ops, StatesOf(batch)); }

  size_t StopsOfStep(const kernels::Execution& run) const override {
    if (model_->crew != nullptr || MayReuseSteps(run)) return 0;
    return static_cast<size_t>(model_->transformer.config().num_layers);
  }

  std::unique_ptr<StepWalk> BeginWalk(Batch batch, const Ops& ops) override {
    auto walk = denoiser_->Begin(ops, StatesOf(batch));
    return walk == nullptr ? nullptr : std::make_unique<LtxWalk>(std::move(walk));
  }

  static std::vector<DenoiseState*> StatesOf(Batch batch) {
    std::vector<DenoiseState*> states;
    for (FamilyGeneration* generation : batch) states.push_back(&Mine(*generation).state);
    return states;
  }

  // Nothing else draws between the last step and the decode, so that its place in the order is the
  // same.
  void AfterLastStep(FamilyGeneration& generation) override {
    LtxGeneration& mine = Mine(generation);
    if (!model_->decoder.is_conditioned() || mine.decode_noise.defined()) return;
    mine.decode_noise = DrawDecodeNoise(*model_, mine.state.shape, mine.state.generator);
    PutPieces(mine.held.decode_noise, mine.decode_noise);
  }

  static at::Tensor MiddleOf(const FamilyGeneration& generation) {
    if (Mine(generation).refined) return RefinedMiddle(Mine(generation)).to(generation.device);
    const at::Tensor latents = generation.PictureLatents();
    return latents.narrow(2, latents.size(2) / 2, 1);
  }

  // The middle of the clip: its latent frame decoded alone, so that it costs a single frame.
  at::Tensor PreviewPictures(const FamilyGeneration& generation, const Ops& ops) override {
    const at::Tensor one = model_->statistics.Denormalize(MiddleOf(generation)).to(model_->dtype);
    // A generator of its own: a preview must not change the video.
    at::Generator noise = at::detail::createCPUGenerator(0);
    return model_->decoder.Decode(ops, one, {{}, kPreviewTime, noise})->Next(ops).x;
  }

  FrameSourcePtr StartDecode(FamilyGeneration& generation, const Ops& ops) override {
    LtxGeneration& mine = Mine(generation);
    DenoiseState& state = mine.state;
    if (mine.refined && !mine.decodes_whole) return StartRefinedDecode(mine, ops);
    const HeldLatents& held = mine.held;
    const at::Tensor own = mine.PictureLatents();
    const at::Tensor whole = Behind(held.before, own);
    at::Tensor noise;
    if (model_->decoder.is_conditioned()) {
      AfterLastStep(mine);
      noise = Behind(held.noise_before, mine.decode_noise);
    }
    const at::Tensor latents = Decodable(*model_, mine.spec, whole, noise);
    const double time = mine.spec.decode_timestep.value_or(0);
    const DecodePieces pieces = PiecesOf(state.shape);
    const VaeConfig& vae = model_->vae_config;
    const int64_t unseen = (whole.size(2) - own.size(2)) * kTemporal;
    return WithoutFirst(
        unseen,
        DecodeInTiles(model_->tiling, {vae.spatial_compression, vae.temporal_compression}, ops,
                      latents, [this, &state, pieces, time](const Ops& by, const at::Tensor& part) {
                        return DecodeOnRanks(*model_, by, part,
                                             {pieces, time, state.other_generator});
                      }));
  }

  // Later windows draw from the request's generator while frames are decoded, and a parked video is
  // decoded from its start again. So the decoder's noise has a generator of its own.
  FrameSourcePtr StartRefinedDecode(const LtxGeneration& mine, const Ops& ops) const {
    at::Generator own = GeneratorOf(mine.spec);
    const at::Tensor like = RefinedMiddle(mine).to(model_->device, model_->dtype);
    return model_->decoder.DecodeFrom(
        ops, RefinedSource(*model_, mine), like,
        {PiecesOf(mine.state.shape), mine.spec.decode_timestep.value_or(0), own});
  }

  DecodePieces PiecesOf(const LatentShape& shape) const {
    if (model_->device.is_cpu()) return {};
    const int64_t pixels =
        int64_t{kTemporal} * shape.height * shape.width * int64_t{kSpatial} * kSpatial;
    // Of a group those of a rank count, but not behind: frames leave as soon as on one device.
    const int64_t early = DecodingRanks(model_->crew.get(), shape.height) * kDeviceEarlyPixels;
    return {.early = std::max<int64_t>(1, early / pixels),
            .late = std::max<int64_t>(1, kDeviceLatePixels / pixels)};
  }
  EncodeStage encode_stage() { return {*model_, card()}; }

  const std::unique_ptr<LtxModel> model_;
  const std::unique_ptr<Denoiser> denoiser_;
};

// With what the checkpoint says of itself.
absl::StatusOr<ModelCard> WholeCardOf(const LtxModel& model, const LoadOptions& options) {
  ModelCard card = CardOf(model, options.name);
  REEL_RETURN_IF_ERROR(ApplyCardFile(options.path, card));
  if (options.random_weights.has_value()) card.family += ", random weights";
  return card;
}

// Nullopt: the options ask for none.
absl::StatusOr<std::optional<FitPlan>> PlanOf(const LoadOptions& options, at::Device device) {
  if (!WantsPlan(options)) return std::nullopt;
  REEL_ASSIGN_OR_RETURN(const std::unique_ptr<LtxModel> shapes,
                        LoadLtxModel(ForShapes(options), device, Values::kNone));
  REEL_ASSIGN_OR_RETURN(const ModelCard card, WholeCardOf(*shapes, options));
  return PlanFor(options, SizesOf(*shapes), card);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Pipeline>> LoadLtxPipeline(const LoadOptions& options,
                                                          kernels::DeviceStream stream) {
  return TorchGuard([&]() -> absl::StatusOr<std::unique_ptr<Pipeline>> {
    REEL_ASSIGN_OR_RETURN(const at::Device device, TorchDeviceOf(stream));
    const ModelScope scope(device);
    REEL_ASSIGN_OR_RETURN(const std::optional<FitPlan> plan, PlanOf(options, device));
    REEL_ASSIGN_OR_RETURN(const FittedLoad fitted, FittedLoad::Make(plan, device));
    REEL_ASSIGN_OR_RETURN(std::unique_ptr<LtxModel> model,
                          LoadLtxModel(options, device, Values::kStored, fitted));
    REEL_ASSIGN_OR_RETURN(ModelCard card, WholeCardOf(*model, options));
    if (plan.has_value()) ApplyPlan(*plan, SizesOf(*model), card);
    return std::make_unique<LtxPipeline>(std::move(model), std::move(card),
                                         GraphBytesOf(options, device));
  });
}

absl::StatusOr<ModelCard> CheckLtxModel(const LoadOptions& options, kernels::DeviceStream stream) {
  return TorchGuard([&]() -> absl::StatusOr<ModelCard> {
    REEL_ASSIGN_OR_RETURN(const at::Device device, TorchDeviceOf(stream));
    const ModelScope scope(device);
    REEL_ASSIGN_OR_RETURN(const std::unique_ptr<LtxModel> model,
                          LoadLtxModel(options, device, Values::kNone));
    REEL_ASSIGN_OR_RETURN(ModelCard card, WholeCardOf(*model, options));
    if (!WantsPlan(options)) return card;
    const WeightSizes sizes = SizesOf(*model);
    REEL_ASSIGN_OR_RETURN(const FitPlan plan, PlanFor(options, sizes, card));
    ApplyPlan(plan, sizes, card);
    return card;
  });
}

}  // namespace reel::model::ltx
