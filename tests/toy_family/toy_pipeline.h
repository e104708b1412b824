// SPDX-License-Identifier: Apache-2.0
// A family of models for tests: pictures and sound by one network, each with a latent and a
// guidance of its own. It uses what families share, and nothing of LTX.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "model/family/family_pipeline.h"
#include "model/graphs/graph_cache.h"
#include "model/latents/latents.h"
#include "model/sampler/schedule.h"
#include "tests/toy_family/toy_network.h"

namespace reel::model::toy {

inline constexpr int64_t kSpatial = 8;         // pixels of a latent, each way
inline constexpr int64_t kAudioPerFrame = 3;   // sound tokens of a latent frame
inline constexpr double kAudioGuidance = 1.5;  // whatever that of the pictures is

struct ToyGeneration final : FamilyGeneration {
  explicit ToyGeneration(const GenerationSpec& resolved) : FamilyGeneration(resolved, at::kCPU) {}

  PassSteps pass() const override { return {at, schedule.steps()}; }
  int64_t rows() const override {
    return text.size(0) * (streams.video.size(1) + streams.audio.size(1));
  }
  FiniteCheck CheckLatents() const override { return {{streams.video, streams.audio}, step()}; }
  at::Tensor PictureLatents() const override { return UnpackLatents(streams.video, shape); }
  std::vector<at::Tensor> tensors() const override { return {streams.video, streams.audio, text}; }
  void MoveTo(at::Device where) override;

  LatentShape shape;
  Streams streams;  // [1, S, C]
  at::Tensor text;  // [rows, kWidth]; undefined until it is encoded
  Schedule schedule;
  int at = 0;
};

ModelCard ToyCard();

class ToyPipeline final : public FamilyPipeline {
 public:
  explicit ToyPipeline(std::unique_ptr<GraphRecorder> recorder = nullptr)
      : FamilyPipeline(ToyCard(), at::kCPU), graphs_(std::move(recorder)) {}

  int64_t kept_bytes() const override { return graphs_.kept_bytes(); }

 private:
  absl::StatusOr<std::unique_ptr<FamilyGeneration>> Plan(const GenerationSpec& resolved) override;
  absl::Status EncodeNext(FamilyGeneration& generation, const Ops& ops) override;
  bool CanJoin(const FamilyGeneration&, const FamilyGeneration&,
               const kernels::Execution&) const override {
    return true;
  }
  void StepTogether(Batch batch, const Ops& ops) override;
  size_t StopsOfStep(const kernels::Execution&) const override { return 2; }
  std::unique_ptr<StepWalk> BeginWalk(Batch batch, const Ops& ops) override;
  at::Tensor PreviewPictures(const FamilyGeneration& generation, const Ops& ops) override;
  absl::Status PushSound(FamilyGeneration& generation, int piece, const Ops& ops,
                         FrameSink& sink) override;
  FrameSourcePtr StartDecode(FamilyGeneration& generation, const Ops& ops) override;
  void Forget() override { graphs_.Forget(); }

  const ToyNetwork network_;
  GraphCache<ToyCall> graphs_;
};

}  // namespace reel::model::toy
