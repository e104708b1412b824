// SPDX-License-Identifier: Apache-2.0
// Runs calls with the same request id one at a time, so that a hundred at once create one video.
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

  // Returns true if it is the caller's turn. Else the call before it calls `later` when it leaves.
  bool Enter(const Key& key, Turn later);
  // The call whose turn it is was answered.
  void Leave(const Key& key);

 private:
  Mutex mutex_;
  // Calls waiting for the one in progress.
  std::map<Key, std::deque<Turn>> waiting_ ABSL_GUARDED_BY(mutex_);
};

// Outcomes of the videos of a request id.
struct Fates {
  int unknown = 0;         // of which there is no trace
  int without_result = 0;  // ended without a result
  bool end_soon = false;   // all live ones are being cancelled, and no other has a result
  bool locked = false;     // one is sealed with a key that this server lacks
  std::vector<FleetView::Key> shown;  // those that a call can name
};

Fates FatesOf(FleetView& view, const std::vector<FleetView::Key>& keys, absl::Time now);

}  // namespace reel::front
