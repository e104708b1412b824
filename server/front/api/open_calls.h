// SPDX-License-Identifier: Apache-2.0
// Open calls: how many every door has, for a drain to wait for, and those that their jobs depend
// on.
#pragma once

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/api/stream_driver.h"
#include "server/front/jobs/job_service.h"

namespace reel::front {

// A drain waits until it is zero. Thread-safe.
class OpenCalls {
 public:
  void Enter();
  void Leave();
  int count() const;
  // True when no call is open; false when `timeout` passed first.
  bool WaitForNone(absl::Duration timeout);

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
};

// A GenerateVideo call that its job depends on: leaves the job exactly once, whichever comes first,
// the answer that names the job or the end of the call.
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
