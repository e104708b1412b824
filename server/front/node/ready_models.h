// SPDX-License-Identifier: Apache-2.0
// Models of the fleet, as a server without devices knows them.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "kernels/base/mutex.h"

namespace reel::front {

// Thread-safe.
class ReadyModels {
 public:
  // `names`: for which some server has a device. `complete`: the card of each model that a living
  // server has was heard, so that another name is one that nobody serves.
  void Set(std::set<std::string> names, bool complete) {
    const MutexLock lock(mutex_);
    names_ = std::move(names);
    complete_ = complete;
  }
  bool Has(const std::string& name) const {
    const MutexLock lock(mutex_);
    return names_.contains(name);
  }
  bool complete() const {
    const MutexLock lock(mutex_);
    return complete_;
  }

 private:
  mutable Mutex mutex_;
  std::set<std::string> names_ ABSL_GUARDED_BY(mutex_);
  bool complete_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace reel::front
