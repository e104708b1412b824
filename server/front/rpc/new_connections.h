// SPDX-License-Identifier: Apache-2.0
// When the last connection came that nobody had called over before: a listener that takes one is
// alive, however long its server lets calls wait under load. Free of gRPC.
#pragma once

#include <chrono>
#include <deque>
#include <string>
#include <unordered_set>

#include "kernels/base/mutex.h"

namespace reel::front {

// Thread-safe. Remembers the latest connections, as many as a server has descriptors for in most
// places.
class NewConnections {
 public:
  using Clock = std::chrono::steady_clock;

  // A call begins over `connection`, the caller's address.
  void Note(const std::string& connection);
  // Of the last call that was the first of its connection; the clock's epoch when there was none.
  Clock::time_point latest() const;

 private:
  mutable Mutex mutex_;
  std::unordered_set<std::string> known_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::string> order_ ABSL_GUARDED_BY(mutex_);  // the oldest first
  Clock::time_point latest_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
