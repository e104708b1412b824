// SPDX-License-Identifier: Apache-2.0
// The models for which some server of the fleet has a device: what one without devices shows.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "kernels/base/mutex.h"

namespace reel::front {

// Thread-safe.
class ReadyModels {
 public:
  void Set(std::set<std::string> names) {
    const MutexLock lock(mutex_);
    names_ = std::move(names);
  }
  bool Has(const std::string& name) const {
    const MutexLock lock(mutex_);
    return names_.contains(name);
  }

 private:
  mutable Mutex mutex_;
  std::set<std::string> names_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
