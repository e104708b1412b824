// SPDX-License-Identifier: Apache-2.0
// A GenerateVideo call that its job depends on: leaves the job exactly once, whichever comes first,
// the answer that names the job or the end of the call.
#pragma once

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/api/stream_driver.h"
#include "server/front/jobs/job_service.h"

namespace reel::front {

// Thread-safe.
class BoundCall {
 public:
  // `deadline`: the call's own; infinite when it has none.
  BoundCall(JobService& jobs, absl::Time deadline);

  void Joined(const std::string& id);
  void Ended(StreamEnd end);

 private:
  void LeaveWhenBothAreKnown();

  JobService& jobs_;
  // From here on an end is the deadline's doing: what a job is given ends a little before the call.
  const absl::Time deadline_;
  Mutex mutex_;
  std::string id_ ABSL_GUARDED_BY(mutex_);
  std::optional<LeaveReason> reason_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
