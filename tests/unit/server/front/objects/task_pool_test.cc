// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>

#include "server/front/objects/object_store.h"
#include "tests/fakes/await.h"

namespace reel::front {
namespace {

using reel::testing::Promised;

TEST(TaskPool, TakesNoMoreThanMayWait) {
  Promised<bool> begun, go_on, done;
  TaskPool pool(1, 2);
  ASSERT_TRUE(pool.Put([&] {
    begun.Give(true);
    go_on.Take();
  }));
  begun.Take();
  std::atomic<int> ran = 0;
  EXPECT_TRUE(pool.Put([&] { ++ran; }));
  EXPECT_TRUE(pool.Put([&] {
    ++ran;
    done.Give(true);
  }));
  EXPECT_FALSE(pool.Put([&] { ran += 100; }));
  go_on.Give(true);
  EXPECT_TRUE(done.Take().has_value());
  EXPECT_EQ(ran, 2);
  EXPECT_TRUE(pool.Put([] {}));
}

TEST(TaskPool, DropsWhatWaitsAtItsEnd) {
  Promised<bool> begun, go_on;
  bool ran = false;
  auto pool = std::make_unique<TaskPool>(1, 8);
  pool->Put([&] {
    begun.Give(true);
    go_on.Take();
  });
  begun.Take();
  auto kept = std::make_shared<int>(1);
  pool->Put([&ran, kept] { ran = true; });
  std::thread ender([&] { pool.reset(); });
  // Which waits for the one that runs.
  go_on.Give(true);
  ender.join();
  EXPECT_EQ(kept.use_count(), 1);
}

}  // namespace
}  // namespace reel::front
