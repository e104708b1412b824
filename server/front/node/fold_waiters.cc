// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/fold_waiters.h"

#include <utility>

namespace reel::front {

void FoldWaiters::Settle(absl::Duration now) {
  // Whoever is told may wait again.
  std::vector<Waiter> asked = std::exchange(waiting_, {});
  std::vector<Waiter> left;
  for (Waiter& waiter : asked) {
    const bool reached = waiter.reached();
    if (!reached && now < waiter.end) {
      left.push_back(std::move(waiter));
    } else {
      waiter.done(reached);
    }
  }
  for (Waiter& waiter : waiting_) left.push_back(std::move(waiter));
  waiting_ = std::move(left);
}

}  // namespace reel::front
