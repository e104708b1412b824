// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/kernel_catalog.h"
#include "model/pass_work.h"
#include "model/resolve.h"
#include "server/worker/engine/engine_core.h"
#include "server/worker/engine/kept_states.h"

namespace reel::worker {
namespace {

// The front resolved this spec with the same card. A different result here is a bug of ours, and
// rendering something else than promised would be worse than failing.
absl::Status CheckResolved(const model::GenerationSpec& spec, const model::ModelCard& card,
                           const model::RequestLimits& limits) {
  const model::Resolution again = model::Resolve(spec, card, limits, 0);
  if (!again.ok()) {
    return MakeError(Reason::kInternal,
                     absl::StrCat("The worker refuses a spec that was admitted; field: ",
                                  again.violations[0].field));
  }
  if (again.spec != spec) {
    return MakeError(Reason::kInternal, "The worker resolves the spec to different values");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Engine::Impl::Admit(Assignment& command, HeldJob& job) {
  if (draining_) {
    return MakeError(Reason::kServerDraining, "The worker is draining and takes no new job");
  }
  const auto found = models_.find(command.spec.model);
  if (found == models_.end()) {
    ErrorDetails details;
    details.metadata["model"] = command.spec.model;
    return MakeError(Reason::kModelUnloaded,
                     absl::StrCat("The model was unloaded: ", command.spec.model), details);
  }
  job.pipeline = found->second.pipeline.get();
  const absl::Status fits = CheckResolved(command.spec, job.pipeline->card(), options_.limits);
  if (!fits.ok() && found->second.replaced) {
    return MakeError(Reason::kModelReplaced,
                     "The model was replaced, and the new one does not take this request");
  }
  REEL_RETURN_IF_ERROR(fits);
  auto plan = catalog_.Plan(command.spec.kernels.profile, command.spec.kernels.variants);
  if (!plan.ok()) {
    const bool unknown = absl::IsInvalidArgument(plan.status());
    return MakeError(unknown ? Reason::kUnknownKernel : Reason::kKernelUnavailable,
                     std::string(plan.status().message()));
  }
  job.plan = *std::move(plan);
  job.steps_alone = job.pipeline->card().steps_alone;
  return OpenState(command.spec, job);
}

void Engine::Impl::CarryOut(Assignment& command) {
  auto job = std::make_unique<HeldJob>();
  job->ref = command.ref;
  if (jobs_.Find(command.ref.job) != nullptr) {
    Report(job->ref,
           JobFailed{MakeError(Reason::kInternal, "The worker has this job already"), false});
    return;
  }
  if (const absl::Status status = Admit(command, *job); !status.ok()) {
    // A retry here would give the same answer about a spec, but not about the worker's own state.
    const Reason reason = ReasonOf(status).value_or(Reason::kInternal);
    const bool suspect = reason == Reason::kInternal || reason == Reason::kUnknownKernel;
    Report(job->ref, JobFailed{status, suspect});
    return;
  }
  job->spec = std::move(command.spec);
  job->order_key = command.order_key;
  job->alone = job->assigned_alone = command.alone;
  job->planned_rows = model::PassesOf(job->spec, job->pipeline->card()).front().rows;
  job->deadline = SteadyNow() + command.time_left;
  if (!job->spec.conditions.empty()) {
    const auto limits =
        DecodeLimits::For(job->spec, job->pipeline->card(), options_.limits.max_condition_pixels);
    job->conditions =
        std::make_unique<ConditionDecoder>(job->spec, limits, [this] { inbox_.Wake(); });
  }
  PutDown(*job);
  if (jobs_.AnyHasStepped()) last_beside_ = SteadyNow();
  jobs_.Add(std::move(job));
}

void Engine::Impl::CarryOut(ReorderJob& command) {
  if (HeldJob* job = jobs_.Find(command.job)) jobs_.Reorder(*job, command.order_key);
}

void Engine::Impl::CarryOut(ParkJob& command) {
  HeldJob* job = jobs_.Find(command.job);
  // After its last step parking would free nothing.
  if (job == nullptr || (job->phase > Phase::kDenoise && !job->has_steps_left())) return;
  if (job->in_step) {
    // If it is alone in the step and keeps its memory, the step can be suspended with it.
    const bool stays = !command.to_host && under_way_->batch.jobs.size() == 1;
    stays ? Interrupt() : DropStep();
  }
  job->parked = true;
  PutDown(*job);
  int64_t held = 0;
  if (job->generation != nullptr) {
    if (const absl::Status status = job->generation->Park(command.to_host); !status.ok()) {
      Blame(*job, status, true);
      return;
    }
    held = job->generation->device_bytes();
  }
  Report(job->ref, JobParked{held});
}

void Engine::Impl::CarryOut(ResumeJob& command) {
  HeldJob* job = jobs_.Find(command.job);
  if (job != nullptr && job->parked) Resume(*job);
}

void Engine::Impl::Resume(HeldJob& job) {
  job.parked = false;
  PutDown(job);
  if (job.generation == nullptr) return;
  absl::Status status = job.generation->Resume();
  if (absl::IsResourceExhausted(status)) {
    MoveParkedToHost();
    status = job.generation->Resume();
  }
  if (absl::IsResourceExhausted(status)) {
    // Others hold the memory, so the job is not to blame: the front retries it alone.
    Fail(job, Reason::kOutOfDeviceMemory, "The device had no memory to resume a parked video",
         false);
  } else if (!status.ok()) {
    Blame(job, status, true);
  }
}

void Engine::Impl::CarryOut(CancelJob& command) {
  // A job that is not here has ended, and its end has been reported.
  if (HeldJob* job = jobs_.Find(command.job)) {
    Fail(*job, Reason::kCancelledByOwner, "The video was cancelled", false);
  }
}

void Engine::Impl::CarryOut(DrainEngine& command) {
  draining_ = true;
  std::vector<HeldJob*> parked;
  for (const auto& job : jobs_.all()) {
    if (job->parked) parked.push_back(job.get());
  }
  for (HeldJob* job : parked) Resume(*job);
  drain_end_ = SteadyNow() + command.time_left;
}

}  // namespace reel::worker
