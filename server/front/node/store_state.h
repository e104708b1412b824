// SPDX-License-Identifier: Apache-2.0
// The state of the fleet's store, by the last call of any thread.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "kernels/base/mutex.h"

namespace reel::front {

// Thread-safe.
class StoreState {
 public:
  // What a call has come to. What says something of one object alone, and nothing of the store, is
  // as good as success. The log hears of changes.
  void Note(const absl::Status& status);
  bool good() const;
  // Results that wait for it.
  void SetWaiting(int results, bool full);
  // No more results may come to wait.
  bool full() const;
  // A line for people; empty: all is well.
  std::string Problem() const;

 private:
  mutable Mutex mutex_;
  absl::Status last_ ABSL_GUARDED_BY(mutex_);
  int waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  bool full_ ABSL_GUARDED_BY(mutex_) = false;
};

// What may be otherwise at the next try.
bool MayPass(const absl::Status& status);

}  // namespace reel::front
