// SPDX-License-Identifier: Apache-2.0
// A small video that a model makes before it may serve, in pieces that fit between those of jobs.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_catalog.h"
#include "kernels/dispatch/kernel_plan.h"
#include "model/frame_sink.h"
#include "model/pipeline.h"
#include "model/resolve.h"

namespace reel::worker {

// Takes frames, and refuses those with numbers that are not finite.
class FiniteFrames final : public model::FrameSink {
 public:
  model::FrameFormat format() const override { return model::FrameFormat::kRgbF32; }
  bool HasRoom() const override { return true; }
  absl::Status Push(const model::FramesView& frames) override;
  int count() const { return count_; }

 private:
  int count_ = 0;
};

// Confined to the engine thread, like the pipeline.
class Canary {
 public:
  // A few tokens and two steps, or what the model makes by default if it takes nothing so small.
  // The pipeline and the catalog outlive it. FAILED_PRECONDITION: the model takes not even that.
  static absl::StatusOr<Canary> Make(model::Pipeline& pipeline,
                                     const kernels::KernelCatalog& catalog,
                                     kernels::DeviceStream stream,
                                     const model::RequestLimits& limits);

  // The next piece; true when it was the last. Errors are those of a pipeline.
  absl::StatusOr<bool> Next();

 private:
  Canary(model::Pipeline& pipeline, model::GenerationSpec spec, kernels::KernelPlan plan,
         kernels::DeviceStream stream)
      : pipeline_(&pipeline), spec_(std::move(spec)), plan_(std::move(plan)), stream_(stream) {}
  absl::StatusOr<bool> NextFrames(const kernels::Execution& run);

  model::Pipeline* pipeline_;
  model::GenerationSpec spec_;
  kernels::KernelPlan plan_;
  kernels::DeviceStream stream_;
  std::unique_ptr<model::Generation> generation_;
  bool begun_ = false;
  FiniteFrames frames_;
};

}  // namespace reel::worker
