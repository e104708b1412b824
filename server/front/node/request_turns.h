// SPDX-License-Identifier: Apache-2.0
// The order of calls that have the same request id: one at a time, so that a hundred at once make
// one video.
#pragma once

#include <deque>
#include <map>

#include "absl/functional/any_invocable.h"
#include "kernels/base/mutex.h"
#include "server/front/fleet/log_fold.h"

namespace reel::front {

// Thread-safe.
class RequestTurns {
 public:
  using Key = FleetState::Key;  // tenant, request id
  using Turn = absl::AnyInvocable<void()>;

  // True: nobody is before the caller, who goes on. False: `later` is called when all before it
  // have left, by the last of them.
  bool Enter(const Key& key, Turn later);
  // The call that has its turn was answered.
  void Leave(const Key& key);

 private:
  Mutex mutex_;
  // Those that wait for one that is under way.
  std::map<Key, std::deque<Turn>> waiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
