// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/open_calls.h"

#include "absl/time/clock.h"

namespace reel::front {

void OpenCalls::Enter() {
  MutexLock lock(mutex_);
  ++count_;
}

void OpenCalls::Leave() {
  MutexLock lock(mutex_);
  if (--count_ == 0) changed_.NotifyAll();
}

int OpenCalls::count() const {
  MutexLock lock(mutex_);
  return count_;
}

bool OpenCalls::WaitForNone(absl::Duration timeout) {
  const absl::Time end = absl::Now() + timeout;
  MutexLock lock(mutex_);
  while (count_ > 0) {
    const absl::Duration left = end - absl::Now();
    if (left <= absl::ZeroDuration()) return false;
    changed_.WaitFor(mutex_, left);
  }
  return true;
}

}  // namespace reel::front
