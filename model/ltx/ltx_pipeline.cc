// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/ltx_pipeline.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/bridge/device_lead.h"
#include "model/bridge/random.h"
#include "model/bridge/step_reuse.h"
#include "model/bridge/torch_device.h"
#include "model/bridge/torch_guard.h"
#include "model/denoise/exact_steps.h"
#include "model/denoise/step_pace.h"
#include "model/frames/frame_output.h"
#include "model/frames/small_picture.h"
#include "model/frames/vae_tiles.h"
#include "model/ltx/card_file.h"
#include "model/ltx/denoiser.h"
#include "model/ltx/encode_stage.h"
#include "model/ltx/group_decode.h"
#include "model/ltx/ltx_card.h"
#include "model/ltx/ltx_generation.h"
#include "model/ltx/ltx_model.h"
#include "model/ltx/step_groups.h"

namespace reel::model::ltx {
namespace {

// Of one decoding piece, which is at least one latent frame, and no more on a CPU: a GPU wants more
// at once than a small frame is. The early layers, whose frames are small, take what a clip of
// usual length is, and their share of its decode is less than a step. The late ones take what is a
// good part of a step at most.
constexpr int64_t kDeviceEarlyPixels = int64_t{128} << 20;
constexpr int64_t kDeviceLatePixels = int64_t{16} << 20;
// Of the decoder, for latents that still have some noise.
constexpr double kPreviewTime = 0.05;

LtxGeneration& Mine(Generation& generation) { return static_cast<LtxGeneration&>(generation); }
const LtxGeneration& Mine(const Generation& generation) {
  return static_cast<const LtxGeneration&>(generation);
}

absl::Status NotReady() {
  return absl::FailedPreconditionError(
      "the generation is not ready: its text and conditions are not encoded yet");
}

std::unique_ptr<Denoiser> MakeDenoiser(const LtxModel& model) {
  auto recorder = MakeGraphRecorder(model.device);
  if (model.crew == nullptr) {
    return std::make_unique<Denoiser>(model.transformer, std::move(recorder));
  }
  std::vector<const Transformer*> peers;
  for (const PeerParts& peer : model.peers) peers.push_back(&peer.transformer);
  return std::make_unique<Denoiser>(model.transformer, std::move(recorder), *model.crew, peers);
}

class LtxPipeline final : public Pipeline {
 public:
  LtxPipeline(std::unique_ptr<LtxModel> model, ModelCard card)
      : model_(std::move(model)), card_(std::move(card)), denoiser_(MakeDenoiser(*model_)) {}

  const ModelCard& card() const override { return card_; }
  PromptCounts TakePromptCounts() override { return model_->prompts.TakeCounts(); }
  int64_t kept_bytes() const override {
    return model_->prompts.cached_bytes() + denoiser_->kept_bytes();
  }
  void ForgetKept() override {
    const ModelScope scope(model_->device);
    model_->prompts.Forget();
    denoiser_->ForgetKept();
  }

  absl::StatusOr<std::unique_ptr<Generation>> Create(const GenerationSpec& resolved,
                                                     const kernels::Execution&) override {
    return TorchGuard([&]() -> absl::StatusOr<std::unique_ptr<Generation>> {
      const ModelScope scope(model_->device);
      return encode_stage().Plan(resolved);
    });
  }

  absl::StatusOr<bool> BeginNext(Generation& generation, const kernels::Execution& run) override {
    return TorchGuard([&]() -> absl::StatusOr<bool> {
      const ModelScope scope(model_->device);
      LtxGeneration& mine = Mine(generation);
      REEL_RETURN_IF_ERROR(encode_stage().Next(mine, Ops(run)));
      return mine.ready;
    });
  }

  // On a CPU one after the other: libraries add in an order that depends on how many rows there
  // are, and each is to be exactly its own step, whoever else is there. On a GPU those that can
  // share a call of the transformer do.
  std::vector<absl::Status> Step(absl::Span<Generation* const> generations,
                                 const kernels::Execution& run) override {
    const ModelScope scope(model_->device);
    const bool waits = WaitsForStep(generations, run);
    const auto begin = std::chrono::steady_clock::now();
    std::vector<absl::Status> results(generations.size());
    std::vector<bool> taken(generations.size(), false);
    for (size_t i = 0; i < generations.size(); ++i) {
      results[i] = TorchGuard([&] { return ReadyToStep(Mine(*generations[i]), Ops(run)); });
      taken[i] = !results[i].ok();
    }
    for (size_t i = 0; i < generations.size(); ++i) {
      if (taken[i]) continue;
      std::vector<DenoiseState*> together;
      std::vector<size_t> places;
      for (size_t j = i; j < generations.size(); ++j) {
        DenoiseState& state = Mine(*generations[j]).state;
        if (taken[j] || (j > i && !MayJoin(*together[0], state, run))) continue;
        taken[j] = true;
        together.push_back(&state);
        places.push_back(j);
      }
      const StepRun own(run, StepsExactly(together[0]->pass(), run));
      const absl::Status status =
          TorchGuard([&] { return StepTogether(together, Ops(own.run())); });
      for (const size_t j : places) {
        results[j] = status.ok() ? EndStep(Mine(*generations[j]), waits) : status;
      }
    }
    pace_.Took(absl::FromChrono(std::chrono::steady_clock::now() - begin));
    return results;
  }

  std::unique_ptr<StepInPieces> BeginStep(absl::Span<Generation* const> generations, int pieces,
                                          const kernels::Execution& run) override {
    if (model_->crew != nullptr || MayReuseSteps(run)) return nullptr;
    for (Generation* generation : generations) {
      if (generation != generations[0] &&
          !MayJoin(Mine(*generations[0]).state, Mine(*generation).state, run)) {
        return nullptr;
      }
    }
    const auto blocks = static_cast<size_t>(model_->transformer.config().num_layers);
    return std::make_unique<Pieces>(*this, generations,
                                    std::max<size_t>(1, blocks / static_cast<size_t>(pieces)));
  }

  absl::StatusOr<RgbImage> Preview(const Generation& generation, int max_side,
                                   const kernels::Execution& run) override {
    return TorchGuard([&]() -> absl::StatusOr<RgbImage> {
      const ModelScope scope(model_->device);
      const LtxGeneration& mine = Mine(generation);
      if (!mine.ready) return NotReady();
      const Ops ops(run);
      return SmallPicture(ops, PreviewPictures(mine, ops), max_side);
    });
  }

  absl::StatusOr<bool> DecodeNext(Generation& generation, FrameSink& sink,
                                  const kernels::Execution& run) override {
    return TorchGuard([&]() -> absl::StatusOr<bool> {
      const ModelScope scope(model_->device);
      LtxGeneration& mine = Mine(generation);
      if (!mine.ready) return NotReady();
      if (mine.decoded) {
        return absl::FailedPreconditionError("the generation has already been decoded");
      }
      const Ops ops(run);
      if (mine.frames == nullptr) mine.frames = BeginDecode(mine, ops);
      Frames frames = mine.frames->Next(ops);
      if (frames.x.size(4) != mine.spec.width || frames.x.size(3) != mine.spec.height) {
        frames.x = Scaled(frames.x, mine.spec.width, mine.spec.height);
      }
      REEL_RETURN_IF_ERROR(PushFrames(ops, frames.x, sink));
      mine.decoded = frames.last;
      if (mine.decoded) mine.frames.reset();
      return frames.last;
    });
  }

  absl::StatusOr<LatentsView> Latents(const Generation& generation) const override {
    return TorchGuard([&]() -> absl::StatusOr<LatentsView> {
      const ModelScope scope(model_->device);
      const LtxGeneration& mine = Mine(generation);
      if (!mine.ready) return NotReady();
      mine.host_latents = mine.state.Latents().to(at::kCPU).contiguous();
      const LatentShape& shape = mine.state.shape;
      return LatentsView{.channels = static_cast<int>(mine.host_latents.size(1)),
                         .frames = static_cast<int>(shape.frames),
                         .height = static_cast<int>(shape.height),
                         .width = static_cast<int>(shape.width),
                         .data = {mine.host_latents.data_ptr<float>(),
                                  static_cast<size_t>(mine.host_latents.numel())}};
    });
  }

 private:
  class Pieces final : public StepInPieces {
   public:
    Pieces(LtxPipeline& pipeline, absl::Span<Generation* const> generations, size_t blocks)
        : pipeline_(pipeline),
          generations_(generations.begin(), generations.end()),
          blocks_(blocks) {}

    std::optional<std::vector<absl::Status>> Next(const kernels::Execution& run) override {
      const ModelScope scope(pipeline_.model_->device);
      bool done = false;
      const absl::Status status = TorchGuard([&]() -> absl::Status {
        if (walk_ == nullptr && !AreReady(run)) return absl::OkStatus();
        const StepRun own(run, StepsExactly(Mine(*generations_[0]).state.pass(), run));
        if (walk_ == nullptr) walk_ = pipeline_.denoiser_->Begin(Ops(own.run()), States());
        if (walk_ == nullptr) return absl::OkStatus();
        done = walk_->Next(Ops(own.run()), blocks_);
        pipeline_.lead_.Asked(pipeline_.model_->device);
        return absl::OkStatus();
      });
      if (!status.ok()) return std::vector<absl::Status>(generations_.size(), status);
      if (walk_ == nullptr) return pipeline_.Step(generations_, run);
      if (!done) return std::nullopt;
      std::vector<absl::Status> results;
      for (Generation* generation : generations_) {
        results.push_back(pipeline_.EndStep(Mine(*generation), pipeline_.WaitsAlways(run)));
      }
      return results;
    }

   private:
    // Where one of them cannot step, or no longer with the others, the whole step says so.
    bool AreReady(const kernels::Execution& run) {
      const DenoiseState& first = Mine(*generations_[0]).state;
      return std::all_of(generations_.begin(), generations_.end(), [&](Generation* generation) {
        LtxGeneration& mine = Mine(*generation);
        return pipeline_.ReadyToStep(mine, Ops(run)).ok() &&
               (generation == generations_[0] || pipeline_.MayJoin(first, mine.state, run));
      });
    }
    std::vector<DenoiseState*> States() const {
      std::vector<DenoiseState*> states;
      for (Generation* generation : generations_) states.push_back(&Mine(*generation).state);
      return states;
    }

    LtxPipeline& pipeline_;
    const std::vector<Generation*> generations_;
    const size_t blocks_;  // of a piece
    std::unique_ptr<Denoiser::Walk> walk_;
  };

  absl::Status ReadyToStep(LtxGeneration& mine, const Ops& ops) {
    if (!mine.ready) return NotReady();
    if (mine.step() >= mine.num_steps()) {
      return absl::FailedPreconditionError("the generation has no steps left");
    }
    if (mine.second_pass.has_value() && mine.state.step == mine.state.schedule.steps()) {
      return encode_stage().SecondPass(mine, ops);
    }
    return absl::OkStatus();
  }

  // Whatever the sizes, but for a group of devices and steps that may be left out, which look at
  // one size at a time.
  bool MayJoin(const DenoiseState& first, const DenoiseState& other,
               const kernels::Execution& run) const {
    if (model_->device.is_cpu() ||
        StepsExactly(first.pass(), run) != StepsExactly(other.pass(), run)) {
      return false;
    }
    const bool packs = model_->crew == nullptr && !MayReuseSteps(run);
    return packs ? CanPackStep(first, other) : CanShareStep(first, other);
  }

  absl::Status StepTogether(absl::Span<DenoiseState* const> states, const Ops& ops) {
    denoiser_->Step(ops, states);
    return absl::OkStatus();
  }

  // What is timed is waited for in any case.
  bool WaitsForStep(absl::Span<Generation* const> generations, const kernels::Execution& run) {
    const bool waits = pace_.Waits(generations);
    return waits || WaitsAlways(run);
  }
  bool WaitsAlways(const kernels::Execution& run) const {
    return run.timer != nullptr || model_->device.is_cpu();
  }

  // Looks at the numbers of this step, or of the one before with this one asked for already; at the
  // last step of both. What the decode needs of the host's is made while a device is still at it.
  absl::Status EndStep(LtxGeneration& mine, bool waits) const {
    return TorchGuard([&]() -> absl::Status {
      const bool is_last = mine.step() == mine.num_steps();
      const auto before =
          std::exchange(mine.unchecked, FiniteCheck(mine.state.tokens.x, mine.step()));
      if (is_last) DrawDecodeNoise(mine);
      if (before.has_value()) REEL_RETURN_IF_ERROR(before->Wait());
      if (!is_last && !waits) return absl::OkStatus();
      return std::exchange(mine.unchecked, std::nullopt)->Wait();
    });
  }

  // Nothing else draws between the last step and the decode, so that its place in the order is the
  // same.
  void DrawDecodeNoise(LtxGeneration& mine) const {
    if (!model_->decoder.is_conditioned() || mine.decode_noise.defined()) return;
    const LatentShape& shape = mine.state.shape;
    mine.decode_noise =
        DrawNormal({1, model_->vae_config.latent_channels, shape.frames, shape.height, shape.width},
                   mine.state.generator, at::dtype(model_->dtype));
  }

  // The middle of the clip: its latent frame decoded alone, so that it costs a single frame.
  at::Tensor PreviewPictures(const LtxGeneration& mine, const Ops& ops) const {
    const at::Tensor latents = mine.state.Latents();
    const int64_t middle = latents.size(2) / 2;
    const at::Tensor one =
        model_->statistics.Denormalize(latents.slice(2, middle, middle + 1)).to(model_->dtype);
    // A generator of its own: a preview must not change the video.
    at::Generator noise = at::detail::createCPUGenerator(0);
    return model_->decoder.Decode(ops, one, {{}, kPreviewTime, noise})->Next(ops).x;
  }

  FrameSourcePtr BeginDecode(LtxGeneration& mine, const Ops& ops) {
    DenoiseState& state = mine.state;
    at::Tensor latents = model_->statistics.Denormalize(state.Latents()).to(model_->dtype);
    const double time = mine.spec.decode_timestep.value_or(0);
    if (model_->decoder.is_conditioned()) {
      DrawDecodeNoise(mine);
      const at::Tensor noise = std::exchange(mine.decode_noise, {}).to(latents.device());
      const at::Tensor scale =
          at::full({}, mine.spec.decode_noise_scale.value_or(time), latents.options());
      latents = (1 - scale) * latents + scale * noise;
    }
    const DecodePieces pieces = PiecesOf(state.shape);
    const VaeConfig& vae = model_->vae_config;
    return DecodeInTiles(model_->tiling, {vae.spatial_compression, vae.temporal_compression}, ops,
                         latents,
                         [this, &state, pieces, time](const Ops& by, const at::Tensor& part) {
                           return DecodeWhole(by, part, {pieces, time, state.other_generator});
                         });
  }

  FrameSourcePtr DecodeWhole(const Ops& ops, const at::Tensor& latents,
                             const DecodeInputs& inputs) const {
    if (DecodingRanks(model_->crew.get(), latents.size(3)) == 1) {
      return model_->decoder.Decode(ops, latents, inputs);
    }
    std::vector<const VaeDecoder*> decoders = {&model_->decoder};
    for (const PeerParts& peer : model_->peers) decoders.push_back(&peer.decoder);
    return DecodeOnGroup(*model_->crew, decoders, ops, latents, inputs);
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
  EncodeStage encode_stage() { return {*model_, card_.limits.max_latent_tokens}; }

  const std::unique_ptr<LtxModel> model_;
  const ModelCard card_;
  const std::unique_ptr<Denoiser> denoiser_;
  StepPace pace_;
  DeviceLead lead_;
};

// With what the checkpoint says of itself.
absl::StatusOr<ModelCard> WholeCardOf(const LtxModel& model, const LoadOptions& options) {
  ModelCard card = CardOf(model, options.name);
  REEL_RETURN_IF_ERROR(ApplyCardFile(options.path, card));
  return card;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Pipeline>> LoadLtxPipeline(const LoadOptions& options,
                                                          kernels::DeviceStream stream) {
  return TorchGuard([&]() -> absl::StatusOr<std::unique_ptr<Pipeline>> {
    REEL_ASSIGN_OR_RETURN(const at::Device device, TorchDeviceOf(stream));
    const ModelScope scope(device);
    REEL_ASSIGN_OR_RETURN(std::unique_ptr<LtxModel> model, LoadLtxModel(options, device));
    REEL_ASSIGN_OR_RETURN(ModelCard card, WholeCardOf(*model, options));
    return std::make_unique<LtxPipeline>(std::move(model), std::move(card));
  });
}

absl::StatusOr<ModelCard> CheckLtxModel(const LoadOptions& options, kernels::DeviceStream stream) {
  return TorchGuard([&]() -> absl::StatusOr<ModelCard> {
    REEL_ASSIGN_OR_RETURN(const at::Device device, TorchDeviceOf(stream));
    const ModelScope scope(device);
    REEL_ASSIGN_OR_RETURN(const std::unique_ptr<LtxModel> model,
                          LoadLtxModel(options, device, Values::kNone));
    return WholeCardOf(*model, options);
  });
}

}  // namespace reel::model::ltx
