// SPDX-License-Identifier: Apache-2.0
#include "tests/toy_family/toy_pipeline.h"

#include <functional>
#include <string>

#include "kernels/base/status_macros.h"
#include "model/denoise/guidance.h"
#include "model/frames/frame_chain.h"

namespace reel::model::toy {
namespace {

ToyGeneration& Of(FamilyGeneration& video) { return static_cast<ToyGeneration&>(video); }

at::Tensor Encoded(const std::string& text) {
  at::Generator generator = at::detail::createCPUGenerator(std::hash<std::string>{}(text));
  return at::randn({1, kWidth}, generator, at::kFloat);
}

// A request with timesteps of its own has no number of steps.
absl::StatusOr<Schedule> ScheduleOf(const GenerationSpec& spec, int64_t tokens) {
  if (!spec.timesteps.empty()) return GivenSchedule({}, spec.timesteps);
  return SpacedSchedule({}, spec.num_inference_steps, tokens);
}

// Latents [1, C, f, h, w] as pictures [1, 3, f, H, W].
at::Tensor Pictures(const at::Tensor& latents) {
  return at::tanh(latents.slice(1, 0, 3))
      .repeat_interleave(kSpatial, 3)
      .repeat_interleave(kSpatial, 4);
}

// Each stream by its own guidance, then one Euler step of both.
void Advance(ToyGeneration& video, const Streams& velocities) {
  const double scale = video.spec.guidance_scale.value_or(1);
  const auto at = static_cast<size_t>(video.at++);
  const double by = video.schedule.sigmas[at + 1] - video.schedule.sigmas[at];
  const auto moved = [&](const at::Tensor& x, const at::Tensor& rows, double guidance) {
    const GuidancePoint point = {.scale = scale > 1 ? guidance : 1};
    return x + by * Guide(rows, point, false);
  };
  video.streams = {moved(video.streams.video, velocities.video, scale),
                   moved(video.streams.audio, velocities.audio, kAudioGuidance)};
}

std::vector<ToyInputs> InputsOf(absl::Span<FamilyGeneration* const> batch) {
  std::vector<ToyInputs> inputs;
  for (FamilyGeneration* generation : batch) {
    const ToyGeneration& video = Of(*generation);
    const float sigma = video.schedule.sigmas[static_cast<size_t>(video.at)];
    inputs.push_back({video.streams, at::full({1}, sigma), video.text});
  }
  return inputs;
}

void AdvanceAll(absl::Span<FamilyGeneration* const> batch, const std::vector<at::Tensor>& made) {
  for (size_t i = 0; i < batch.size(); ++i) Advance(Of(*batch[i]), {made[2 * i], made[2 * i + 1]});
}

// Stops once: between the network and the step. Not by a graph, whose outputs live until its next
// call.
struct ToyWalk final : StepWalk {
  ToyWalk(const ToyNetwork& toy_network, absl::Span<FamilyGeneration* const> videos)
      : network(toy_network), batch(videos) {}
  bool Next(const Ops& ops, size_t) override {
    const bool ends = !made.empty();
    if (ends) AdvanceAll(batch, made);
    if (!ends) made = ToyCall{network, InputsOf(batch)}.Compute(ops);
    return ends;
  }

  const ToyNetwork& network;
  const absl::Span<FamilyGeneration* const> batch;
  std::vector<at::Tensor> made;
};

}  // namespace

ModelCard ToyCard() {
  ModelCard card;
  card.sound = {.sample_rate = 8'000, .channels = static_cast<int>(kAudioChannels)};
  return card;
}

void ToyGeneration::MoveTo(at::Device where) {
  const Streams there = {streams.video.to(where), streams.audio.to(where)};
  text = text.to(where);
  streams = there;
}

absl::StatusOr<std::unique_ptr<FamilyGeneration>> ToyPipeline::Plan(
    const GenerationSpec& resolved) {
  auto video = std::make_unique<ToyGeneration>(resolved);
  video->shape = {resolved.num_frames, resolved.height / kSpatial, resolved.width / kSpatial};
  const int64_t tokens = video->shape.tokens();
  REEL_ASSIGN_OR_RETURN(video->schedule, ScheduleOf(resolved, tokens));
  at::Generator generator = at::detail::createCPUGenerator(resolved.seed.value_or(0));
  video->streams = {
      at::randn({1, tokens, kVideoChannels}, generator, at::kFloat),
      at::randn({1, resolved.num_frames * kAudioPerFrame, kAudioChannels}, generator, at::kFloat)};
  return video;
}

absl::Status ToyPipeline::EncodeNext(FamilyGeneration& generation, const Ops&) {
  ToyGeneration& video = Of(generation);
  video.text = Encoded(video.spec.prompt);
  if (video.spec.guidance_scale.value_or(1) > 1) {
    video.text = at::cat({Encoded(video.spec.negative_prompt.value_or("")), video.text});
  }
  video.ready = true;
  return absl::OkStatus();
}

void ToyPipeline::StepTogether(Batch batch, const Ops& ops) {
  AdvanceAll(batch, graphs_(ops, {network_, InputsOf(batch)}));
}

std::unique_ptr<StepWalk> ToyPipeline::BeginWalk(Batch batch, const Ops&) {
  return std::make_unique<ToyWalk>(network_, batch);
}

at::Tensor ToyPipeline::PreviewPictures(const FamilyGeneration& generation, const Ops&) {
  const at::Tensor latents = generation.PictureLatents();
  return Pictures(latents.narrow(2, latents.size(2) / 2, 1));
}

// A sample of each channel for each token.
absl::Status ToyPipeline::PushSound(FamilyGeneration& generation, int, const Ops&,
                                    FrameSink& sink) {
  const at::Tensor samples =
      Of(generation).streams.audio.to(at::kCPU).tanh().contiguous();  // [1, A, channels]
  return sink.PushSamples(
      {card().sound, {samples.data_ptr<float>(), static_cast<size_t>(samples.numel())}});
}

FrameSourcePtr ToyPipeline::StartDecode(FamilyGeneration& generation, const Ops&) {
  return MapSource(
      LatentSource(generation.PictureLatents(), 1),
      [](const Ops&, const Frames& piece) -> Frames { return {Pictures(piece.x), piece.last}; });
}

}  // namespace reel::model::toy
