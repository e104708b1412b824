// SPDX-License-Identifier: Apache-2.0
// Time that goes on when a test says so.
#pragma once

#include "kernels/base/mutex.h"
#include "server/front/jobs/timer_queue.h"

namespace reel::testing {

class ManualClock final : public front::Clock {
 public:
  absl::Time Wall() const override {
    MutexLock lock(mutex_);
    return wall_;
  }
  absl::Duration Monotonic() const override {
    MutexLock lock(mutex_);
    return monotonic_;
  }
  void Advance(absl::Duration by) {
    MutexLock lock(mutex_);
    wall_ += by;
    monotonic_ += by;
  }
  // Somebody sets the wall clock.
  void JumpWall(absl::Duration by) {
    MutexLock lock(mutex_);
    wall_ += by;
  }

 private:
  mutable Mutex mutex_;
  absl::Time wall_ ABSL_GUARDED_BY(mutex_) = absl::FromUnixSeconds(1'700'000'000);
  absl::Duration monotonic_ ABSL_GUARDED_BY(mutex_) = absl::Seconds(1000);
};

}  // namespace reel::testing
