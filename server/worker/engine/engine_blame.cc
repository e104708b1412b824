// SPDX-License-Identifier: Apache-2.0
// Decides which job an error blames, and how an unfinished job ends.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "kernels/dispatch/device_gone.h"
#include "model/adapter_fault.h"
#include "server/worker/engine/engine_core.h"

namespace reel::worker {

absl::Status Engine::Impl::Diagnosed(const absl::Status& error) const {
  const bool tells = error.ok() || absl::IsAborted(error) || absl::IsResourceExhausted(error) ||
                     absl::IsInvalidArgument(error);
  if (tells || options_.probe_device == nullptr) return error;
  const absl::Status device = options_.probe_device();
  return absl::IsAborted(device) ? device : error;
}

void Engine::Impl::Blame(HeldJob& job, const absl::Status& told, bool alone) {
  const absl::Status error = Diagnosed(told);
  switch (error.code()) {
    case absl::StatusCode::kResourceExhausted:
      return OutOfMemory(job);
    case absl::StatusCode::kDataLoss:
      Fail(job, Reason::kNumericalFault, "The model computed NaN or Inf, so nothing was sent",
           true);
      return;
    case absl::StatusCode::kAborted:
      // With other jobs in the step nobody knows which one failed: the front retries each alone.
      device_lost_ = true;
      // No job is to blame for a lost device.
      if (alone && !kernels::IsDeviceGone(error)) {
        Fail(job, Reason::kWorkerFault, "The device failed while it rendered this video", true);
      }
      events_.DeviceLost(error);
      return;
    case absl::StatusCode::kInvalidArgument:
      // Checks that only the model can make, e.g. where in the video a clip may begin.
      Fail(job, Reason::kInvalidSpec, std::string(error.message()), true);
      return;
    case absl::StatusCode::kFailedPrecondition:
      if (const auto fault = model::FaultOf(error)) {
        const bool broken = *fault == model::AdapterFault::kBroken;
        Fail(job, broken ? Reason::kAdapterBroken : Reason::kAdapterNotForModel,
             std::string(error.message()), true);
        return;
      }
      // Only a call shows what a forced variant refuses beyond its type.
      if (!job.spec.kernels.variants.empty()) {
        Fail(job, Reason::kKernelUnavailable, std::string(error.message()), true);
        return;
      }
      [[fallthrough]];
    default:
      Fail(job, Reason::kInternal, absl::StrCat("The model failed: ", std::string(error.message())),
           false);
  }
}

void Engine::Impl::OutOfMemory(HeldJob& job) {
  ReturnMemory();
  // An interrupted decoder cannot resume.
  const bool may_go_on = job.phase != Phase::kDecode;
  if (may_go_on && !job.ran_out_of_memory) {
    job.ran_out_of_memory = job.alone = true;
    return;
  }
  if (OthersAreHeld(job) || (!may_go_on && !job.assigned_alone)) {
    // The front retries it with the device to itself.
    Fail(job, Reason::kOutOfDeviceMemory, "The device ran out of memory beside other jobs", false);
    return;
  }
  job.generation = nullptr;
  ReturnMemory();
  const absl::Status device = TryDevice(*job.pipeline);
  device_lost_ = !device.ok();
  Fail(job, Reason::kOutOfDeviceMemory,
       "The device ran out of memory, although no other job was on it", true);
  if (device_lost_) events_.DeviceLost(device);
}

void Engine::Impl::ReturnMemory() {
  DropStep();
  MoveParkedToHost();
  for (const auto& [name, model] : models_) model.pipeline->ForgetKept();
  for (const LoadedModel& model : leaving_) model.pipeline->ForgetKept();
  if (options_.return_memory) options_.return_memory();
}

bool Engine::Impl::OthersAreHeld(const HeldJob& job) const {
  return std::any_of(jobs_.all().begin(), jobs_.all().end(), [&](const auto& other) {
    return other.get() != &job && other->generation != nullptr &&
           (!other->parked || other->generation->device_bytes() > 0);
  });
}

absl::Status Engine::Impl::TryDevice(model::Pipeline& pipeline) {
  auto canary = TrialVideo::Canary({pipeline, catalog_, options_.stream, options_.limits});
  if (!canary.ok()) return absl::OkStatus();  // a model that refuses small videos cannot be probed
  absl::StatusOr<bool> last = false;
  while (last.ok() && !*last) {
    PieceClock::Piece piece(clock_);
    last = canary->Next();
  }
  ReadMemory();
  const model::DeviceMemory& memory = memory_.last();
  // Ending this process does not free memory that others hold.
  if (absl::IsResourceExhausted(last.status()) && memory.outside() > memory.total / 2) {
    return absl::OkStatus();
  }
  return last.status();
}

void Engine::Impl::MoveParkedToHost() {
  for (const auto& job : jobs_.all()) {
    if (!job->parked || job->generation == nullptr || job->generation->device_bytes() == 0)
      continue;
    if (job->in_step) DropStep();
    // A state that cannot be moved to the host stays on the device.
    if (!job->generation->Park(/*to_host=*/true).ok()) continue;
    Report(job->ref, JobParked{job->generation->device_bytes()});
  }
}

void Engine::Impl::Fail(HeldJob& job, Reason reason, std::string_view message, bool suspect) {
  if (job.file_end != nullptr && !job.file_end->Claim()) {
    // Its file was complete first. The job is removed when its encoder is done, which is imminent.
    job.deadline = absl::InfiniteFuture();
    return;
  }
  // A preset may make more steps than the spec says.
  const int num_steps =
      job.generation != nullptr ? job.generation->num_steps() : job.spec.num_steps();
  int steps = job.phase == Phase::kEncode ? num_steps : job.tally.done_steps();
  if (job.generation != nullptr) steps = job.generation->step();
  const JobRef ref = job.ref;
  Release(job);
  Report(ref, JobFailed{JobError(ref, reason, message, steps, num_steps), suspect, device_lost_});
}

}  // namespace reel::worker
