// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/front/jobs/timer_queue.h"

namespace reel::front {
namespace {

TEST(SystemClock, NeverGoesBack) {
  const SystemClock clock;
  absl::Duration last = clock.Monotonic();
  for (int i = 0; i < 1000; ++i) {
    const absl::Duration now = clock.Monotonic();
    EXPECT_GE(now, last);
    last = now;
  }
}

TEST(SystemClock, TellsTheTimeOfDay) {
  const SystemClock clock;
  EXPECT_LT(absl::AbsDuration(clock.Wall() - absl::Now()), absl::Minutes(1));
}

}  // namespace
}  // namespace reel::front
