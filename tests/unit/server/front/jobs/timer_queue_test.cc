// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/timer_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reel::front {
namespace {

using ::testing::ElementsAre;

TEST(TimerQueue, GivesWhatIsDueInOrder) {
  TimerQueue timers;
  timers.Set("b", absl::Seconds(2));
  timers.Set("a", absl::Seconds(1));
  timers.Set("c", absl::Seconds(3));
  EXPECT_EQ(timers.next(), absl::Seconds(1));
  EXPECT_THAT(timers.Take(absl::Seconds(2)), ElementsAre("a", "b"));
  EXPECT_TRUE(timers.Take(absl::Seconds(2)).empty());
  EXPECT_EQ(timers.next(), absl::Seconds(3));
}

TEST(TimerQueue, ReplacesAndClears) {
  TimerQueue timers;
  timers.Set("a", absl::Seconds(1));
  timers.Set("a", absl::Seconds(5));
  EXPECT_TRUE(timers.Take(absl::Seconds(4)).empty());
  timers.Clear("a");
  timers.Clear("unknown");
  EXPECT_FALSE(timers.next().has_value());
}

}  // namespace
}  // namespace reel::front
