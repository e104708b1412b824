// SPDX-License-Identifier: Apache-2.0
// Values that other threads change and a test waits for: the base of what has them.
#pragma once

#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "kernels/base/mutex.h"

namespace reel::worker {

class WatchedValues {
 protected:
  template <typename Map>
  typename Map::mapped_type Of(Map& map, const std::string& job) {
    MutexLock lock(mutex_);
    const auto found = map.find(job);
    return found == map.end() ? typename Map::mapped_type() : found->second;
  }
  template <typename F>
  void Change(F change) {
    MutexLock lock(mutex_);
    change();
    changed_.NotifyAll();
  }
  template <typename F>
  bool Wait(F condition) {
    const absl::Time end = absl::Now() + absl::Minutes(1);
    MutexLock lock(mutex_);
    while (!condition() && absl::Now() < end) changed_.WaitFor(mutex_, absl::Seconds(1));
    return condition();
  }

  Mutex mutex_;
  CondVar changed_;
};

}  // namespace reel::worker
