// SPDX-License-Identifier: Apache-2.0
// Request ids: calls with the same one come one at a time, so that a hundred at once make one
// video. Their fates are what the videos that one stands for have become.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/fleet/fleet_view.h"
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

// What the videos that a request id stands for have become.
struct Fates {
  int unknown = 0;                    // neither the video nor a trace of it is there
  int without_result = 0;             // they ended so
  bool end_soon = false;              // all live ones are being cancelled, no other has a result
  bool locked = false;                // one is sealed with a key that is not here
  std::vector<FleetView::Key> shown;  // those that can be asked for
};

Fates FatesOf(FleetView& view, const std::vector<FleetView::Key>& keys, absl::Time now);

}  // namespace reel::front
