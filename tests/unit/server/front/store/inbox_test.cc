// SPDX-License-Identifier: Apache-2.0
#include "server/front/store/inbox.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace reel::front {
namespace {

TEST(Inbox, GivesAllThatIsThereInOrder) {
  Inbox<int> inbox;
  inbox.Put(1);
  inbox.Put(2);
  std::vector<int> taken;
  EXPECT_TRUE(inbox.TakeAll(taken));
  EXPECT_EQ(taken, (std::vector<int>{1, 2}));
}

TEST(Inbox, ReturnsEmptyHandedAfterTheTimeout) {
  Inbox<int> inbox;
  std::vector<int> taken;
  EXPECT_TRUE(inbox.TakeAll(taken, absl::Milliseconds(1)));
  EXPECT_TRUE(taken.empty());
}

TEST(Inbox, EndsAfterTheLastItem) {
  Inbox<int> inbox;
  inbox.Put(1);
  inbox.Close();
  EXPECT_FALSE(inbox.Put(2));
  std::vector<int> taken;
  EXPECT_TRUE(inbox.TakeAll(taken));
  EXPECT_EQ(taken.size(), 1u);
  EXPECT_FALSE(inbox.TakeAll(taken));
}

TEST(Inbox, HoldsThePosterWhileItIsFull) {
  Inbox<int> inbox(10);
  ASSERT_TRUE(inbox.PutWhenRoom(1, 8));
  std::atomic<bool> entered = false;
  std::thread poster([&] {
    inbox.PutWhenRoom(2, 8);
    entered = true;
  });
  std::vector<int> taken;
  inbox.TakeAll(taken);
  EXPECT_EQ(taken, std::vector<int>{1});
  EXPECT_FALSE(entered);  // taken is not yet done
  inbox.Release(8);
  poster.join();
  EXPECT_TRUE(entered);
}

TEST(Inbox, TakesAnItemHeavierThanItselfAlone) {
  Inbox<int> inbox(10);
  EXPECT_TRUE(inbox.PutWhenRoom(1, 100));
}

TEST(Inbox, LetsGoOfPostersWhenItCloses) {
  Inbox<int> inbox(10);
  inbox.PutWhenRoom(1, 10);
  std::thread poster([&] { EXPECT_FALSE(inbox.PutWhenRoom(2, 10)); });
  inbox.Close();
  poster.join();
}

}  // namespace
}  // namespace reel::front
