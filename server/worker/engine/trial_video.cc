// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/trial_video.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/kernel_counters.h"

namespace reel::worker {
namespace {

constexpr int kTokensASide = 4;
constexpr int kSteps = 2;

model::GenerationSpec PlainSpec(const model::ModelCard& card) {
  model::GenerationSpec spec;
  spec.model = card.name;
  spec.prompt = "a red circle";
  return spec;
}

model::GenerationSpec SmallSpec(const model::ModelCard& card) {
  model::GenerationSpec spec = PlainSpec(card);
  const int side =
      std::clamp(kTokensASide * card.spatial_multiple, card.limits.min_size, card.limits.max_size);
  spec.width = spec.height = side;
  spec.num_frames =
      std::clamp(card.temporal_multiple + 1, card.limits.min_frames, card.limits.max_frames);
  spec.num_inference_steps = kSteps;
  return spec;
}

}  // namespace

absl::Status TrialFrames::Push(const model::FramesView& frames) {
  if (format_ == model::FrameFormat::kRgbF32) {
    for (size_t at = 0; at + sizeof(float) <= frames.data.size(); at += sizeof(float)) {
      float value = 0;
      std::memcpy(&value, frames.data.data() + at, sizeof value);
      if (!std::isfinite(value)) return absl::DataLossError("Its frames have NaN or Inf");
    }
  }
  count_ += frames.num_frames;
  return absl::OkStatus();
}

absl::StatusOr<TrialVideo> TrialVideo::Canary(const Stage& stage) {
  const model::ModelCard& card = stage.pipeline.card();
  model::Resolution resolved = model::Resolve(SmallSpec(card), card, stage.limits, 1);
  if (!resolved.ok()) resolved = model::Resolve(PlainSpec(card), card, stage.limits, 1);
  return Make(stage, std::move(resolved), model::FrameFormat::kRgbF32);
}

absl::StatusOr<TrialVideo> TrialVideo::WarmUp(const Stage& stage, const model::WarmUpSize& size) {
  const model::ModelCard& card = stage.pipeline.card();
  model::GenerationSpec spec = PlainSpec(card);
  spec.width = size.width;
  spec.height = size.height;
  spec.num_frames = size.num_frames;
  model::GenerationSpec quick = spec;
  quick.num_inference_steps = kSteps;
  model::Resolution resolved = model::Resolve(quick, card, stage.limits, 1);
  // Some models have a fixed schedule.
  if (!resolved.ok()) resolved = model::Resolve(spec, card, stage.limits, 1);
  return Make(stage, std::move(resolved), model::FrameFormat::kI420);
}

absl::StatusOr<TrialVideo> TrialVideo::Make(const Stage& stage, model::Resolution resolved,
                                            model::FrameFormat format) {
  if (!resolved.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("The model refuses it: ", resolved.violations[0].field, " ",
                     resolved.violations[0].description));
  }
  REEL_ASSIGN_OR_RETURN(kernels::KernelPlan plan,
                        stage.catalog.Plan(resolved.spec.kernels.profile, {}));
  return TrialVideo(stage, std::move(resolved.spec), std::move(plan), format);
}

absl::StatusOr<bool> TrialVideo::Next() {
  kernels::KernelCounters counters;
  const kernels::Execution run{plan_, counters, nullptr, stream_};
  if (generation_ == nullptr) {
    REEL_ASSIGN_OR_RETURN(generation_, pipeline_->Create(spec_, run));
    return false;
  }
  if (!begun_) {
    REEL_ASSIGN_OR_RETURN(begun_, pipeline_->BeginNext(*generation_, run));
    return false;
  }
  if (generation_->step() >= generation_->num_steps()) return NextFrames(run);
  model::Generation* const generation = generation_.get();
  const std::vector<absl::Status> stepped = pipeline_->Step({&generation, 1}, run);
  REEL_RETURN_IF_ERROR(stepped.empty() ? absl::InternalError("no answer") : stepped[0]);
  return false;
}

absl::StatusOr<bool> TrialVideo::NextFrames(const kernels::Execution& run) {
  REEL_ASSIGN_OR_RETURN(const bool last, pipeline_->DecodeNext(*generation_, frames_, run));
  if (last && frames_.count() != spec_.num_frames) {
    return absl::InternalError(
        absl::StrCat("It made ", frames_.count(), " frames of ", spec_.num_frames));
  }
  return last;
}

}  // namespace reel::worker
