// SPDX-License-Identifier: Apache-2.0
// Callers that wait until the view says something.
#pragma once

#include <functional>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"

namespace reel::front {

// Confined to one thread.
class FoldWaiters {
 public:
  // `done` hears whether `reached` said true before `end`, of a monotonic clock.
  void Add(std::function<bool()> reached, absl::Duration end, absl::AnyInvocable<void(bool)> done) {
    waiting_.push_back({std::move(reached), end, std::move(done)});
  }
  // Time has passed, or the view has changed.
  void Settle(absl::Duration now);
  bool empty() const { return waiting_.empty(); }

 private:
  struct Waiter {
    std::function<bool()> reached;
    absl::Duration end;
    absl::AnyInvocable<void(bool)> done;
  };
  std::vector<Waiter> waiting_;
};

}  // namespace reel::front
