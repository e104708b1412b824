// SPDX-License-Identifier: Apache-2.0
// A family of models for tests: pictures and sound by one network, each with a latent and a
// guidance of its own. It uses what families share, and nothing of LTX.
#pragma once

#include <memory>
#include <vector>

#include "model/bridge/device_graph.h"
#include "model/pipeline.h"
#include "model/sampler/schedule.h"
#include "tests/toy_family/toy_network.h"

namespace reel::model::toy {

inline constexpr int64_t kSpatial = 8;         // pixels of a latent, each way
inline constexpr int64_t kAudioPerFrame = 3;   // sound tokens of a latent frame
inline constexpr double kAudioGuidance = 1.5;  // whatever that of the pictures is

struct ToyGeneration final : Generation {
  int step() const override { return at; }
  int num_steps() const override { return schedule.steps(); }
  int64_t rows() const override {
    return text.size(0) * (latents.video.size(1) + latents.audio.size(1));
  }
  int64_t device_bytes() const override { return 0; }
  absl::Status Park(bool) override { return absl::OkStatus(); }
  absl::Status Resume() override { return absl::OkStatus(); }

  GenerationSpec spec;
  int64_t frames = 0, height = 0, width = 0;  // of latents
  Streams latents;                            // [1, S, C]
  at::Tensor text;                            // [rows, kWidth]; undefined until it is encoded
  Schedule schedule;
  int at = 0;
  int64_t decoded = 0;  // latent frames
};

class ToyPipeline final : public Pipeline {
 public:
  explicit ToyPipeline(std::unique_ptr<GraphRecorder> recorder = nullptr);
  ~ToyPipeline() override;

  const ModelCard& card() const override { return card_; }
  absl::StatusOr<std::unique_ptr<Generation>> Create(const GenerationSpec& resolved,
                                                     const kernels::Execution& run) override;
  absl::StatusOr<bool> BeginNext(Generation& generation, const kernels::Execution& run) override;
  std::vector<absl::Status> Step(absl::Span<Generation* const> generations,
                                 const kernels::Execution& run) override;
  absl::StatusOr<RgbImage> Preview(const Generation& generation, int max_side,
                                   const kernels::Execution& run) override;
  absl::StatusOr<bool> DecodeNext(Generation& generation, FrameSink& sink,
                                  const kernels::Execution& run) override;
  absl::StatusOr<LatentsView> Latents(const Generation& generation) const override;

 private:
  class Graphs;

  const ModelCard card_;
  const ToyNetwork network_;
  std::unique_ptr<Graphs> graphs_;
};

}  // namespace reel::model::toy
