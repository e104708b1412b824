// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/view_changes.h"

#include <utility>

namespace reel::front {

ViewChanges::Taken ViewChanges::Take() {
  const MutexLock lock(mutex_);
  told_ = false;
  return std::exchange(taken_, {});
}

void ViewChanges::OnFolded(const std::map<FleetState::Key, ViewChange>& changes,
                           const std::vector<ViewBill>& bills) {
  bool first = false;
  {
    const MutexLock lock(mutex_);
    for (const auto& [key, change] : changes) {
      ViewChange& known = taken_.videos[key];
      known.live = change.live;
      known.deleted |= change.deleted;
    }
    taken_.bills.insert(taken_.bills.end(), bills.begin(), bills.end());
    first = Note();
  }
  if (first) wake_();
}

void ViewChanges::OnAnew() {
  bool first = false;
  {
    const MutexLock lock(mutex_);
    taken_ = {true, {}, {}};
    first = Note();
  }
  if (first) wake_();
}

void ViewChanges::OnCaughtUp() {
  bool first = false;
  {
    const MutexLock lock(mutex_);
    first = Note();
  }
  if (first) wake_();
}

}  // namespace reel::front
