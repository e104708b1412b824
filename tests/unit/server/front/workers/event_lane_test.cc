// SPDX-License-Identifier: Apache-2.0
#include "server/front/workers/event_lane.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <vector>

namespace reel::front {
namespace {

TEST(EventLane, RunsEverythingInOrderBeforeItEnds) {
  std::vector<int> ran;
  EventLane lane(1000, [] {});
  for (int i = 0; i < 100; ++i) lane.Post([&ran, i] { ran.push_back(i); });
  lane.End();
  ASSERT_EQ(ran.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ran[static_cast<size_t>(i)], i);
}

TEST(EventLane, SaysWhenItIsFullAndWhenThereIsRoomAgain) {
  std::latch hold(1), room(1);
  EventLane lane(1000, [&] { room.count_down(); });
  EXPECT_TRUE(lane.Post([&] { hold.wait(); }, 400));
  EXPECT_FALSE(lane.Post([] {}, 600));
  hold.count_down();
  room.wait();
  EXPECT_TRUE(lane.Post([] {}, 400));
}

TEST(EventLane, TakesOneEventThatIsLargerThanItself) {
  std::latch room(1);
  std::atomic<bool> ran = false;
  EventLane lane(10, [&] { room.count_down(); });
  EXPECT_FALSE(lane.Post([&] { ran = true; }, 1000));
  room.wait();
  EXPECT_TRUE(ran);
}

TEST(EventLane, DropsWhatComesAfterTheEnd) {
  EventLane lane(1000, [] {});
  lane.End();
  EXPECT_FALSE(lane.Post([] { FAIL(); }));
  lane.End();
}

}  // namespace
}  // namespace reel::front
