// SPDX-License-Identifier: Apache-2.0
// Renders a video with a model before it serves, in pieces between those of jobs. A canary must
// have finite numbers; a warm-up sets up what a first call needs.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_catalog.h"
#include "kernels/dispatch/kernel_plan.h"
#include "model/frame_sink.h"
#include "model/load_options.h"
#include "model/pipeline.h"
#include "model/resolve.h"

namespace reel::worker {

// Counts frames; refuses frames in kRgbF32 with numbers that are not finite.
class TrialFrames final : public model::FrameSink {
 public:
  explicit TrialFrames(model::FrameFormat format) : format_(format) {}
  model::FrameFormat format() const override { return format_; }
  bool HasRoom() const override { return true; }
  absl::Status Push(const model::FramesView& frames) override;
  int count() const { return count_; }

 private:
  model::FrameFormat format_;
  int count_ = 0;
};

// Confined to the engine thread, like the pipeline.
class TrialVideo {
 public:
  // Outlives the video.
  struct Stage {
    model::Pipeline& pipeline;
    const kernels::KernelCatalog& catalog;
    kernels::DeviceStream stream;
    const model::RequestLimits& limits;
  };
  // The canary: a few tokens and two steps, or the model's default if it takes nothing so small.
  // FAILED_PRECONDITION: the model takes neither.
  static absl::StatusOr<TrialVideo> Canary(const Stage& stage);
  // The warm-up at this size, with two steps and the encoder's frame format. A size of zeros is the
  // model's default. FAILED_PRECONDITION: the model does not take it.
  static absl::StatusOr<TrialVideo> WarmUp(const Stage& stage, const model::WarmUpSize& size);

  // The next piece; true when it was the last. Errors are those of a pipeline.
  absl::StatusOr<bool> Next();
  const model::GenerationSpec& spec() const { return spec_; }

 private:
  TrialVideo(const Stage& stage, model::GenerationSpec spec, kernels::KernelPlan plan,
             model::FrameFormat format)
      : pipeline_(&stage.pipeline),
        spec_(std::move(spec)),
        plan_(std::move(plan)),
        stream_(stage.stream),
        frames_(format) {}
  static absl::StatusOr<TrialVideo> Make(const Stage& stage, model::Resolution resolved,
                                         model::FrameFormat format);
  absl::StatusOr<bool> NextFrames(const kernels::Execution& run);

  model::Pipeline* pipeline_;
  model::GenerationSpec spec_;
  kernels::KernelPlan plan_;
  kernels::DeviceStream stream_;
  std::unique_ptr<model::Generation> generation_;
  bool begun_ = false;
  TrialFrames frames_;
};

}  // namespace reel::worker
