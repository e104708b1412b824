// SPDX-License-Identifier: Apache-2.0
// The states that jobs begin from and leave.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/dispatch/execution.h"
#include "server/worker/engine/held_job.h"

namespace reel::worker {

// For people: why the video that a job goes on from cannot be used.
std::string UnusableSource(const absl::Status& why);

// Reads the state of the video that a job goes on from, if there is one, into the job, and the
// bytes of its conditions into the spec. STATE_GONE or STATE_NOT_FOR_MODEL.
absl::Status OpenState(model::GenerationSpec& spec, HeldJob& job);

// From the state if the job has one, which it then gives up. A FAILED_PRECONDITION while it has one
// is about the state.
absl::StatusOr<std::unique_ptr<model::Generation>> MakeGeneration(HeldJob& job,
                                                                  const kernels::Execution& run);

// Adds to what a job tells about its texts which frames a retake makes anew, if not just those that
// were asked for.
void TellRetake(HeldJob& job);

// A draft's state has them, since later passes encode the conditions anew.
bool KeepsBytesOfConditions(const model::GenerationSpec& spec);

// Whether the state that a job leaves includes its file. A draft's does not.
bool KeepsFile(const model::GenerationSpec& spec);

// Takes the state that the job is to leave, after its last step.
absl::Status TakeState(HeldJob& job);

}  // namespace reel::worker
