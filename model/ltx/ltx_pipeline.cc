// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/ltx_pipeline.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/bridge/random.h"
#include "model/bridge/torch_device.h"
#include "model/bridge/torch_guard.h"
#include "model/ltx/card_file.h"
#include "model/ltx/frame_output.h"
#include "model/ltx/ltx_card.h"
#include "model/ltx/ltx_generation.h"
#include "model/ltx/ltx_model.h"
#include "model/ltx/presets.h"
#include "model/ltx/preview.h"
#include "model/ltx/request_conditions.h"
#include "model/ltx/second_pass.h"
#include "model/ltx/vae_tiles.h"

namespace reel::model::ltx {
namespace {

// Of one decoding piece, which is at least one latent frame: a CPU works frame by frame anyway, a
// GPU wants more at once than a small frame is.
constexpr int64_t kDevicePixelsPerPiece = int64_t{32} << 20;
constexpr int kSpatial = 32, kTemporal = 8;

LtxGeneration& Mine(Generation& generation) { return static_cast<LtxGeneration&>(generation); }
const LtxGeneration& Mine(const Generation& generation) {
  return static_cast<const LtxGeneration&>(generation);
}

absl::StatusOr<Schedule> ScheduleOf(const GenerationSpec& spec, const SchedulerConfig& scheduler,
                                    const DenoiseState& state) {
  if (!spec.timesteps.empty()) return GivenSchedule(scheduler, spec.timesteps);
  if (state.mode == Mode::kCondition) {
    return LinearQuadraticSchedule(scheduler, spec.num_inference_steps);
  }
  return SpacedSchedule(scheduler, spec.num_inference_steps, state.shape.tokens());
}

LatentShape ShapeOf(PictureSize size, int num_frames) {
  return {(num_frames - 1) / kTemporal + 1, size.height / kSpatial, size.width / kSpatial};
}

at::Generator GeneratorOf(const GenerationSpec& spec) {
  return at::detail::createCPUGenerator(spec.seed.value_or(0) & 0xffffffffu);
}

class LtxPipeline final : public Pipeline {
 public:
  LtxPipeline(std::unique_ptr<LtxModel> model, ModelCard card)
      : model_(std::move(model)), card_(std::move(card)) {}

  const ModelCard& card() const override { return card_; }

  absl::StatusOr<std::unique_ptr<Generation>> Create(const GenerationSpec& resolved,
                                                     const kernels::Execution&) override {
    return TorchGuard([&]() -> absl::StatusOr<std::unique_ptr<Generation>> {
      const c10::InferenceMode no_gradients;
      return CreateState(resolved);
    });
  }

  absl::StatusOr<bool> BeginNext(Generation& generation, const kernels::Execution& run) override {
    return TorchGuard([&]() -> absl::StatusOr<bool> {
      const c10::InferenceMode no_gradients;
      LtxGeneration& mine = Mine(generation);
      if (!mine.has_text) {
        REEL_RETURN_IF_ERROR(BeginText(mine, Ops(run)));
      } else if (mine.state.mode == Mode::kCondition &&
                 mine.conditions_done < mine.conditions.size()) {
        AddCondition(mine, Ops(run));
      } else if (!mine.ready) {
        FinishTokens(mine, Ops(run));
      }
      return mine.ready;
    });
  }

  // One after the other: each is exactly its own step, whoever else is there.
  std::vector<absl::Status> Step(absl::Span<Generation* const> generations,
                                 const kernels::Execution& run) override {
    std::vector<absl::Status> results;
    for (Generation* generation : generations) {
      results.push_back(TorchGuard([&] { return StepOne(Mine(*generation), Ops(run)); }));
    }
    return results;
  }

  absl::StatusOr<RgbImage> Preview(const Generation& generation, int max_side,
                                   const kernels::Execution& run) override {
    return TorchGuard([&]() -> absl::StatusOr<RgbImage> {
      const c10::InferenceMode no_gradients;
      const LtxGeneration& mine = Mine(generation);
      if (!mine.ready) return absl::FailedPreconditionError("the generation has not begun");
      return PreviewOf(*model_, mine.state.Latents(), max_side, run);
    });
  }

  absl::StatusOr<bool> DecodeNext(Generation& generation, FrameSink& sink,
                                  const kernels::Execution& run) override {
    return TorchGuard([&]() -> absl::StatusOr<bool> {
      const c10::InferenceMode no_gradients;
      LtxGeneration& mine = Mine(generation);
      if (!mine.ready) return absl::FailedPreconditionError("the generation has not begun");
      if (mine.decoded) return absl::FailedPreconditionError("the generation is decoded already");
      mine.decode_run.emplace(run);
      if (mine.frames == nullptr) mine.frames = BeginDecode(mine, *mine.decode_run);
      Frames frames = mine.frames->Next();
      if (frames.x.size(4) != mine.spec.width || frames.x.size(3) != mine.spec.height) {
        frames.x = Scaled(frames.x, mine.spec.width, mine.spec.height);
      }
      REEL_RETURN_IF_ERROR(PushFrames(Ops(run), frames.x, sink));
      mine.decoded = frames.last;
      if (mine.decoded) mine.frames.reset();
      return frames.last;
    });
  }

  absl::StatusOr<LatentsView> Latents(const Generation& generation) const override {
    return TorchGuard([&]() -> absl::StatusOr<LatentsView> {
      const LtxGeneration& mine = Mine(generation);
      if (!mine.ready) return absl::FailedPreconditionError("the generation has not begun");
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
  absl::StatusOr<std::unique_ptr<Generation>> CreateState(const GenerationSpec& spec) {
    if (spec.width % kSpatial != 0 || spec.height % kSpatial != 0 || spec.width < kSpatial ||
        spec.height < kSpatial || spec.num_frames < 1 || spec.num_frames % kTemporal != 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the size of the video is none that the model makes: ", spec.width, "x", spec.height,
          ", ", spec.num_frames, " frames; sides are multiples of 32, frames of 8, plus 1"));
    }
    const Recipe recipe = RecipeOf(spec);
    const bool once = !recipe.second_pass.has_value();
    auto mine = std::make_unique<LtxGeneration>(once ? WithoutPixels(spec) : spec);
    DenoiseState& state = mine->state;
    REEL_ASSIGN_OR_RETURN(const PictureSize size, PlanPasses(recipe, *mine));
    state.shape = ShapeOf(size, spec.num_frames);
    REEL_ASSIGN_OR_RETURN(state.schedule, ScheduleOf(spec, model_->scheduler, state));
    REEL_ASSIGN_OR_RETURN(mine->conditions, ConditionsOf(spec, size, model_->dtype));
    if (state.mode == Mode::kCondition) {
      state.first_step = FirstStep(state.schedule.steps(), spec.denoise_strength.value_or(1));
    }
    state.step = state.first_step;
    state.guidance = recipe.guidance;
    state.condition_noise = spec.image_condition_noise_scale.value_or(0);
    state.stochastic = model_->scheduler.stochastic_sampling;
    state.generator = GeneratorOf(spec);
    state.other_generator = GeneratorOf(spec);
    mine->planned_tokens = state.shape.tokens();
    return mine;
  }

  // Which pipeline makes `mine`, and in which passes; the size of the first of them.
  absl::StatusOr<PictureSize> PlanPasses(const Recipe& recipe, LtxGeneration& mine) const {
    if (!recipe.second_pass.has_value()) {
      REEL_ASSIGN_OR_RETURN(mine.state.mode, ModeOf(mine.spec, model_->scheduler));
      return PictureSize{mine.spec.width, mine.spec.height};
    }
    mine.state.mode = Mode::kCondition;
    if (!model_->upsampler.has_value()) {
      return absl::FailedPreconditionError("the model has no latent upsampler for two passes");
    }
    REEL_ASSIGN_OR_RETURN(const PictureSize first,
                          FirstPassSize({mine.spec.width, mine.spec.height}));
    const int64_t frames = ShapeOf(first, mine.spec.num_frames).frames;
    REEL_ASSIGN_OR_RETURN(mine.second_pass,
                          PlanSecondPass(*recipe.second_pass, model_->scheduler, first, frames));
    const int64_t tokens = mine.second_pass->shape.tokens();
    if (tokens <= card_.limits.max_latent_tokens) return first;
    return absl::InvalidArgumentError(
        absl::StrCat("the second pass has too many latent tokens: ", tokens, ", the limit is ",
                     card_.limits.max_latent_tokens, "; choose a smaller size or fewer frames"));
  }

  absl::Status BeginText(LtxGeneration& mine, const Ops& ops) {
    DenoiseState& state = mine.state;
    const bool masked = state.mode == Mode::kCondition;
    const int text_tokens = TextTokensOf(mine.spec, state.mode);
    std::vector<at::Tensor> embeddings, masks;
    std::vector<std::string> texts = {mine.spec.prompt};
    const Guidance* later = mine.second_pass ? &mine.second_pass->recipe.guidance : nullptr;
    state.text_has_negative =
        state.guidance.uses_negative() || (later != nullptr && later->uses_negative());
    if (state.text_has_negative) texts.insert(texts.begin(), mine.spec.negative_prompt);
    if (state.guidance.uses_perturbed() || (later != nullptr && later->uses_perturbed())) {
      texts.push_back(mine.spec.prompt);  // once more, for the perturbed transformer
    }
    for (const std::string& text : texts) {
      REEL_ASSIGN_OR_RETURN(const Prompt prompt,
                            model_->prompts.Encode(ops, text, text_tokens, masked));
      embeddings.push_back(prompt.embeddings);
      masks.push_back(prompt.mask);
    }
    state.text = model_->transformer.Prepare(ops, at::cat(embeddings), at::cat(masks));
    mine.has_text = true;
    if (masked) {
      mine.building.emplace(state.shape, mine.spec.frame_rate,
                            DrawNoise(state.shape, channels(), state.generator, model_->device));
    }
    return absl::OkStatus();
  }

  void AddCondition(LtxGeneration& mine, const Ops& ops) {
    mine.building->Add(ops, encoder(), mine.conditions[mine.conditions_done++],
                       mine.state.generator);
  }

  void FinishTokens(LtxGeneration& mine, const Ops& ops) {
    DenoiseState& state = mine.state;
    Tokens& tokens = state.tokens;
    switch (state.mode) {
      case Mode::kText:
        tokens.x = PackLatents(DrawNoise(state.shape, channels(), state.generator, model_->device));
        break;
      case Mode::kImage:
        tokens = ImageTokens(ops, encoder(), mine.conditions[0], channels(), state);
        break;
      case Mode::kCondition:
        tokens = mine.building->Finish(!mine.conditions.empty());
        mine.building.reset();
        break;
    }
    if (!tokens.coordinates.defined()) {
      tokens.coordinates = PlainCoordinates(state.shape, mine.spec.frame_rate);
    }
    state.rope = RopeOf(tokens);
    mine.planned_tokens = tokens.x.size(1);
    mine.conditions.clear();  // their pixels are in the tokens now
    mine.ready = true;
  }

  RopeTable RopeOf(const Tokens& tokens) const {
    return MakeRopeTable(tokens.coordinates, model_->transformer.config().width())
        .To(model_->device);
  }

  // The first pass's latents, upsampled and noised, and the conditions once more at the new size.
  // `mine` is changed at the end only: what fails can be tried again.
  absl::Status BeginSecondPass(LtxGeneration& mine, const Ops& ops) {
    const PlannedPass& pass = *mine.second_pass;
    DenoiseState next = mine.state;
    next.shape = pass.shape;
    next.schedule = pass.schedule;
    next.step = next.first_step = pass.first_step;
    next.guidance = pass.recipe.guidance;
    next.generator = GeneratorOf(mine.spec);
    REEL_ASSIGN_OR_RETURN(const std::vector<PictureCondition> conditions,
                          ConditionsOf(mine.spec, pass.size, model_->dtype));
    const at::Tensor latents = UpsampleLatents(*model_->upsampler, model_->statistics,
                                               pass.recipe.touch, mine.state.Latents());
    const at::Tensor noise = DrawNoise(pass.shape, channels(), next.generator, model_->device);
    ConditionTokens building(pass.shape, mine.spec.frame_rate, NoisedLatents(pass, noise, latents));
    for (const PictureCondition& condition : conditions) {
      building.Add(ops, encoder(), condition, next.generator);
    }
    next.tokens = building.Finish(!conditions.empty());
    next.rope = RopeOf(next.tokens);
    mine.steps_before = mine.step();
    mine.planned_tokens = next.tokens.x.size(1);
    mine.state = std::move(next);
    mine.second_pass.reset();
    return absl::OkStatus();
  }

  absl::Status StepOne(LtxGeneration& mine, const Ops& ops) {
    const c10::InferenceMode no_gradients;
    if (!mine.ready) return absl::FailedPreconditionError("the generation has not begun");
    if (mine.step() >= mine.num_steps()) {
      return absl::FailedPreconditionError("the generation has no step left");
    }
    if (mine.second_pass.has_value() && mine.state.step == mine.state.schedule.steps()) {
      REEL_RETURN_IF_ERROR(BeginSecondPass(mine, ops));
    }
    DenoiseStep(ops, model_->transformer, mine.state);
    if (at::isfinite(mine.state.tokens.x).all().item<bool>()) return absl::OkStatus();
    return absl::DataLossError(
        absl::StrCat("the latents are no numbers any more, after step ", mine.step()));
  }

  FrameSourcePtr BeginDecode(LtxGeneration& mine, const kernels::Execution& run) {
    DenoiseState& state = mine.state;
    at::Tensor latents = model_->statistics.Denormalize(state.Latents()).to(model_->dtype);
    const double time = mine.spec.decode_timestep.value_or(0);
    if (model_->decoder.is_conditioned()) {
      const at::Tensor noise = DrawNormal(latents.sizes(), state.generator, latents.options());
      const at::Tensor scale =
          at::full({}, mine.spec.decode_noise_scale.value_or(time), latents.options());
      latents = (1 - scale) * latents + scale * noise;
    }
    const int64_t piece = LatentsPerPiece(state.shape);
    return DecodeInTiles(model_->tiling, model_->vae_config, latents,
                         [this, &run, &state, piece, time](const at::Tensor& part) {
                           return model_->decoder.Decode(run, part, piece, time,
                                                         state.other_generator);
                         });
  }

  int64_t LatentsPerPiece(const LatentShape& shape) const {
    if (model_->device.is_cpu()) return 1;
    const int64_t pixels =
        int64_t{kTemporal} * shape.height * shape.width * int64_t{kSpatial} * kSpatial;
    return std::max<int64_t>(1, kDevicePixelsPerPiece / pixels);
  }
  LatentEncoder encoder() const { return {model_->encoder, model_->statistics, model_->tiling}; }
  int64_t channels() const { return model_->transformer.config().in_channels; }

  const std::unique_ptr<LtxModel> model_;
  const ModelCard card_;
};

}  // namespace

bool IsLtxModel(const std::string& path) { return IsLtxPath(path); }

absl::StatusOr<std::unique_ptr<Pipeline>> LoadLtxPipeline(const LoadOptions& options,
                                                          kernels::DeviceStream stream) {
  return TorchGuard([&]() -> absl::StatusOr<std::unique_ptr<Pipeline>> {
    const c10::InferenceMode no_gradients;
    REEL_ASSIGN_OR_RETURN(const at::Device device, TorchDeviceOf(stream));
    REEL_ASSIGN_OR_RETURN(std::unique_ptr<LtxModel> model, LoadLtxModel(options, device));
    ModelCard card = CardOf(*model, options.name);
    REEL_RETURN_IF_ERROR(ApplyCardFile(options.path, card));
    return std::make_unique<LtxPipeline>(std::move(model), std::move(card));
  });
}

}  // namespace reel::model::ltx
