// SPDX-License-Identifier: Apache-2.0
// Changes of the view since they were last asked for: many batches are one look.
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "kernels/base/mutex.h"
#include "server/front/fleet/fleet_view.h"

namespace reel::front {

// Thread-safe.
class ViewChanges final : public ViewListener {
 public:
  // `wake` is called on the tail's thread, once before each Take that follows.
  explicit ViewChanges(std::function<void()> wake) : wake_(std::move(wake)) {}

  struct Taken {
    bool anew = false;  // what was known is to be forgotten first
    std::map<FleetState::Key, ViewChange> videos;
    std::vector<ViewBill> bills;
  };
  Taken Take();

  void OnFolded(const std::map<FleetState::Key, ViewChange>& changes,
                const std::vector<ViewBill>& bills) override;
  void OnAnew() override;
  void OnCaughtUp() override;

 private:
  // True: nobody was told yet.
  bool Note() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !std::exchange(told_, true); }

  const std::function<void()> wake_;
  Mutex mutex_;
  Taken taken_ ABSL_GUARDED_BY(mutex_);
  bool told_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace reel::front
