// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/timer_queue.h"

#include <chrono>

namespace reel::front {

absl::Time SystemClock::Wall() const { return absl::Now(); }

absl::Duration SystemClock::Monotonic() const {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace reel::front
