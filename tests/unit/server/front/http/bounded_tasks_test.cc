// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/bounded_tasks.h"

#include <gtest/gtest.h>

#include <atomic>

namespace reel::front {
namespace {

TEST(BoundedTasks, RunsEverythingBeforeItEnds) {
  std::atomic<int> ran = 0;
  {
    BoundedTasks tasks(2, 4);
    for (int i = 0; i < 100; ++i) tasks.Add([&] { ++ran; });
  }
  EXPECT_EQ(ran, 100);
}

TEST(BoundedTasks, AFullQueueMakesTheCallerWait) {
  Mutex mutex;
  CondVar released;
  bool release = false;
  std::atomic<int> added = 0;
  BoundedTasks tasks(1, 2);
  std::thread adder([&] {
    for (int i = 0; i < 6; ++i) {
      tasks.Add([&] {
        MutexLock lock(mutex);
        while (!release) released.Wait(mutex);
      });
      ++added;
    }
  });
  while (added < 3) std::this_thread::yield();
  // One runs, two wait, the fourth cannot get in.
  EXPECT_LE(added, 3);
  {
    MutexLock lock(mutex);
    release = true;
    released.NotifyAll();
  }
  adder.join();
  EXPECT_EQ(added, 6);
}

TEST(BoundedTasks, ALateTaskRunsOnItsCaller) {
  BoundedTasks tasks(1, 1);
  tasks.Stop();
  std::thread::id ran;
  tasks.Add([&] { ran = std::this_thread::get_id(); });
  EXPECT_EQ(ran, std::this_thread::get_id());
  tasks.Stop();
}

}  // namespace
}  // namespace reel::front
