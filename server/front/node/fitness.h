// SPDX-License-Identifier: Apache-2.0
// Judges whether this node can render for now, and says why not.
#pragma once

#include <array>
#include <map>
#include <string>

#include "kernels/base/mutex.h"
#include "server/front/jobs/fleet_status.h"

namespace reel::front {

// Thread-safe. A node that is not fit claims nothing, gives back what no worker has, and is not
// ready.
class Fitness {
 public:
  // `why` in words; empty: it is no longer so. The log hears of changes.
  void Set(Unfit what, const std::string& why);
  bool fit() const;
  std::array<bool, kUnfits> All() const;
  // All reasons in one line; empty: fit.
  std::string Why() const;

 private:
  mutable Mutex mutex_;
  std::map<Unfit, std::string> reasons_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
