// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/canary.h"

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

model::GenerationSpec SmallSpec(const model::ModelCard& card) {
  model::GenerationSpec spec;
  spec.model = card.name;
  spec.prompt = "a red circle";
  const int side =
      std::clamp(kTokensASide * card.spatial_multiple, card.limits.min_size, card.limits.max_size);
  spec.width = spec.height = side;
  spec.num_frames = std::min(card.temporal_multiple + 1, card.limits.max_frames);
  spec.num_inference_steps = kSteps;
  return spec;
}

}  // namespace

absl::Status FiniteFrames::Push(const model::FramesView& frames) {
  for (size_t at = 0; at + sizeof(float) <= frames.data.size(); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, frames.data.data() + at, sizeof value);
    if (!std::isfinite(value)) return absl::DataLossError("Its frames have NaN or Inf");
  }
  count_ += frames.num_frames;
  return absl::OkStatus();
}

absl::StatusOr<Canary> Canary::Make(model::Pipeline& pipeline,
                                    const kernels::KernelCatalog& catalog,
                                    kernels::DeviceStream stream,
                                    const model::RequestLimits& limits) {
  model::Resolution resolved =
      model::Resolve(SmallSpec(pipeline.card()), pipeline.card(), limits, 1);
  if (!resolved.ok()) {
    model::GenerationSpec usual;
    usual.model = pipeline.card().name;
    usual.prompt = "a red circle";
    resolved = model::Resolve(usual, pipeline.card(), limits, 1);
  }
  if (!resolved.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("It refuses its own defaults: ", resolved.violations[0].field, " ",
                     resolved.violations[0].description));
  }
  REEL_ASSIGN_OR_RETURN(kernels::KernelPlan plan, catalog.Plan(resolved.spec.kernels.profile, {}));
  return Canary(pipeline, std::move(resolved.spec), std::move(plan), stream);
}

absl::StatusOr<bool> Canary::Next() {
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

absl::StatusOr<bool> Canary::NextFrames(const kernels::Execution& run) {
  REEL_ASSIGN_OR_RETURN(const bool last, pipeline_->DecodeNext(*generation_, frames_, run));
  if (last && frames_.count() != spec_.num_frames) {
    return absl::InternalError(
        absl::StrCat("It made ", frames_.count(), " frames of ", spec_.num_frames));
  }
  return last;
}

}  // namespace reel::worker
