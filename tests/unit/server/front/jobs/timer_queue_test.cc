// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/timer_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reel::front {
namespace {

using ::testing::ElementsAre;

Timer Deadline(const std::string& job) { return {TimerKind::kDeadline, job}; }

TEST(TimerQueue, GivesWhatIsDueInOrder) {
  TimerQueue timers;
  timers.Set(Deadline("b"), absl::Seconds(2));
  timers.Set(Deadline("a"), absl::Seconds(1));
  timers.Set(Deadline("c"), absl::Seconds(3));
  EXPECT_EQ(timers.next(), absl::Seconds(1));
  EXPECT_THAT(timers.Take(absl::Seconds(2)), ElementsAre(Deadline("a"), Deadline("b")));
  EXPECT_TRUE(timers.Take(absl::Seconds(2)).empty());
  EXPECT_EQ(timers.next(), absl::Seconds(3));
}

TEST(TimerQueue, ReplacesAndClears) {
  TimerQueue timers;
  timers.Set(Deadline("a"), absl::Seconds(1));
  timers.Set(Deadline("a"), absl::Seconds(5));
  EXPECT_TRUE(timers.Take(absl::Seconds(4)).empty());
  timers.Clear(Deadline("a"));
  timers.Clear(Deadline("unknown"));
  EXPECT_FALSE(timers.next().has_value());
}

}  // namespace
}  // namespace reel::front
