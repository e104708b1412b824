// SPDX-License-Identifier: Apache-2.0
// Who is to blame for an error, and how a job ends that is not finished.
#include <string>

#include "absl/strings/str_cat.h"
#include "kernels/dispatch/device_gone.h"
#include "server/worker/engine/engine_core.h"

namespace reel::worker {

void Engine::Impl::Blame(HeldJob& job, const absl::Status& error, bool alone) {
  switch (error.code()) {
    case absl::StatusCode::kResourceExhausted:
      if (!job.ran_out_of_memory) {
        job.ran_out_of_memory = job.alone = true;
        MoveParkedToHost();
        return;
      }
      Fail(job, Reason::kOutOfDeviceMemory,
           "The device ran out of memory, although no other job was on it", true);
      return;
    case absl::StatusCode::kDataLoss:
      Fail(job, Reason::kNumericalFault, "The model computed NaN or Inf, so nothing was sent",
           true);
      return;
    case absl::StatusCode::kAborted:
      // With other jobs in the step nobody knows which it was: the front tries each again, alone.
      device_lost_ = true;
      // A device that is gone was no job's doing.
      if (alone && !kernels::IsDeviceGone(error)) {
        Fail(job, Reason::kWorkerFault, "The device failed while it rendered this video", true);
      }
      events_.DeviceLost(error);
      return;
    case absl::StatusCode::kInvalidArgument:
      // What only the model can check, e.g. where in the video a clip may begin.
      Fail(job, Reason::kInvalidSpec, std::string(error.message()), true);
      return;
    case absl::StatusCode::kFailedPrecondition:
      // What a forced variant takes beyond its type is known at the call only.
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

void Engine::Impl::MoveParkedToHost() {
  for (const auto& job : jobs_.all()) {
    if (!job->parked || job->generation == nullptr || job->generation->device_bytes() == 0)
      continue;
    // One that cannot be moved stays where it is.
    if (!job->generation->Park(/*to_host=*/true).ok()) continue;
    Report(job->ref, JobParked{job->generation->device_bytes()});
  }
}

void Engine::Impl::Fail(HeldJob& job, Reason reason, std::string_view message, bool suspect) {
  if (job.file_end != nullptr && !job.file_end->Claim()) {
    // Its file was there first. It goes when its encoder is done, which is about to be.
    job.deadline = absl::InfiniteFuture();
    return;
  }
  // A preset may make more of the spec's steps.
  const int num_steps =
      job.generation != nullptr ? job.generation->num_steps() : job.spec.num_steps();
  int steps = job.phase == Phase::kEncode ? num_steps : 0;
  if (job.generation != nullptr) steps = job.generation->step();
  const JobRef ref = job.ref;
  Release(job);
  Report(ref, JobFailed{JobError(ref, reason, message, steps, num_steps), suspect, device_lost_});
}

}  // namespace reel::worker
