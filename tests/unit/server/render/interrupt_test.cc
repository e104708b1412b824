// SPDX-License-Identifier: Apache-2.0
#include "server/render/interrupt.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "kernels/base/mutex.h"

namespace reel::render {
namespace {

TEST(InterruptWatch, TurnsSignalsIntoCalls) {
  Mutex mutex;
  CondVar changed;
  int calls = 0;
  const InterruptWatch watch([&] {
    MutexLock lock(mutex);
    ++calls;
    changed.NotifyAll();
  });
  for (int i = 1; i <= 2; ++i) {
    kill(getpid(), i == 1 ? SIGINT : SIGTERM);
    const absl::Time end = absl::Now() + absl::Minutes(1);
    MutexLock lock(mutex);
    while (calls < i && absl::Now() < end) changed.WaitFor(mutex, absl::Seconds(1));
    EXPECT_EQ(calls, i);
  }
}

TEST(InterruptWatch, LeavesWithoutACall) {
  int calls = 0;
  {
    const InterruptWatch watch([&] { ++calls; });
  }
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace reel::render
