// SPDX-License-Identifier: Apache-2.0
// The number of open calls of every door; a drain waits until it is zero.
#pragma once

#include "absl/time/time.h"
#include "kernels/base/mutex.h"

namespace reel::front {

// Thread-safe.
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

}  // namespace reel::front
