// SPDX-License-Identifier: Apache-2.0
#include "tests/toy_family/toy_pipeline.h"

#include <functional>
#include <string>
#include <utility>

#include "model/bridge/torch_guard.h"
#include "model/denoise/finite_check.h"
#include "model/denoise/guidance.h"
#include "model/frames/frame_output.h"
#include "model/graphs/graph_cache.h"

namespace reel::model::toy {
namespace {

ToyGeneration& Of(Generation& generation) { return dynamic_cast<ToyGeneration&>(generation); }

at::Tensor Encoded(const std::string& text) {
  at::Generator generator = at::detail::createCPUGenerator(std::hash<std::string>{}(text));
  return at::randn({1, kWidth}, generator, at::kFloat);
}

// Latents [1, S, C] of one frame as pictures [1, 3, 1, H, W].
at::Tensor Picture(const ToyGeneration& video, int64_t frame) {
  const int64_t tokens = video.height * video.width;
  const at::Tensor grid = video.latents.video.slice(1, frame * tokens, (frame + 1) * tokens)
                              .view({video.height, video.width, kVideoChannels})
                              .permute({2, 0, 1});
  return at::tanh(grid.slice(0, 0, 3))
      .repeat_interleave(kSpatial, 1)
      .repeat_interleave(kSpatial, 2)
      .view({1, 3, 1, video.height * kSpatial, video.width * kSpatial});
}

// Each stream by its own guidance, then one Euler step of both.
absl::Status Advance(ToyGeneration& video, const Streams& velocities) {
  const double scale = video.spec.guidance_scale.value_or(1);
  const auto at = static_cast<size_t>(video.at);
  const double by = video.schedule.sigmas[at + 1] - video.schedule.sigmas[at];
  const auto moved = [&](const at::Tensor& x, const at::Tensor& rows, double guidance) {
    const GuidancePoint point = {.scale = scale > 1 ? guidance : 1};
    return x + by * Guide(rows, point, false);
  };
  const Streams next = {moved(video.latents.video, velocities.video, scale),
                        moved(video.latents.audio, velocities.audio, kAudioGuidance)};
  for (const at::Tensor& x : {next.video, next.audio}) {
    if (absl::Status status = FiniteCheck(x, video.at + 1).Wait(); !status.ok()) return status;
  }
  video.latents = next;
  ++video.at;
  return absl::OkStatus();
}

}  // namespace

class ToyPipeline::Graphs : public GraphCache<ToyCall> {
 public:
  using GraphCache::GraphCache;
};

ToyPipeline::ToyPipeline(std::unique_ptr<GraphRecorder> recorder)
    : graphs_(std::make_unique<Graphs>(std::move(recorder))) {}
ToyPipeline::~ToyPipeline() = default;

absl::StatusOr<std::unique_ptr<Generation>> ToyPipeline::Create(const GenerationSpec& resolved,
                                                                const kernels::Execution&) {
  auto video = std::make_unique<ToyGeneration>();
  video->spec = resolved;
  video->frames = resolved.num_frames;
  video->height = resolved.height / kSpatial;
  video->width = resolved.width / kSpatial;
  const int64_t tokens = video->frames * video->height * video->width;
  auto schedule = SpacedSchedule({}, resolved.num_inference_steps, tokens);
  if (!schedule.ok()) return schedule.status();
  video->schedule = *std::move(schedule);
  at::Generator generator = at::detail::createCPUGenerator(resolved.seed.value_or(0));
  video->latents = {
      at::randn({1, tokens, kVideoChannels}, generator, at::kFloat),
      at::randn({1, video->frames * kAudioPerFrame, kAudioChannels}, generator, at::kFloat)};
  return video;
}

absl::StatusOr<bool> ToyPipeline::BeginNext(Generation& generation, const kernels::Execution&) {
  ToyGeneration& video = Of(generation);
  video.text = Encoded(video.spec.prompt);
  if (video.spec.guidance_scale.value_or(1) > 1) {
    video.text = at::cat({Encoded(video.spec.negative_prompt), video.text});
  }
  return true;
}

std::vector<absl::Status> ToyPipeline::Step(absl::Span<Generation* const> generations,
                                            const kernels::Execution& run) {
  std::vector<absl::Status> statuses(generations.size());
  const absl::Status status = TorchGuard([&] {
    std::vector<ToyInputs> inputs;
    for (Generation* generation : generations) {
      const ToyGeneration& video = Of(*generation);
      const float sigma = video.schedule.sigmas[static_cast<size_t>(video.at)];
      inputs.push_back({video.latents, at::full({1}, sigma), video.text});
    }
    const std::vector<at::Tensor> made = (*graphs_)(Ops(run), {network_, inputs});
    for (size_t i = 0; i < generations.size(); ++i) {
      statuses[i] = Advance(Of(*generations[i]), {made[2 * i], made[2 * i + 1]});
    }
    return absl::OkStatus();
  });
  if (!status.ok()) statuses.assign(generations.size(), status);
  return statuses;
}

absl::StatusOr<RgbImage> ToyPipeline::Preview(const Generation&, int, const kernels::Execution&) {
  return absl::UnimplementedError("the toy family has no previews");
}

absl::StatusOr<bool> ToyPipeline::DecodeNext(Generation& generation, FrameSink& sink,
                                             const kernels::Execution& run) {
  ToyGeneration& video = Of(generation);
  const absl::Status status =
      TorchGuard([&] { return PushFrames(Ops(run), Picture(video, video.decoded), sink); });
  if (!status.ok()) return status;
  return ++video.decoded == video.frames;
}

absl::StatusOr<LatentsView> ToyPipeline::Latents(const Generation&) const {
  return absl::FailedPreconditionError("the toy family has two latents");
}

}  // namespace reel::model::toy
