// SPDX-License-Identifier: Apache-2.0
#include "client/stop_signal.h"

#include <gtest/gtest.h>

#include <thread>

namespace reel::client {
namespace {

TEST(StopSignal, WakesASleeper) {
  StopSignal stop;
  std::thread other([&] { stop.Stop(); });
  EXPECT_FALSE(stop.Sleep(absl::Hours(1)));
  other.join();
  EXPECT_TRUE(stop.stopped());
}

TEST(StopSignal, LetsASleeperSleepWhenNobodyStops) {
  StopSignal stop;
  EXPECT_TRUE(stop.Sleep(absl::Milliseconds(1)));
}

TEST(StopSignal, CancelsTheScopeThatIsOpenAndNoOther) {
  StopSignal stop;
  int first = 0, second = 0;
  {
    StopSignal::Scope scope(stop, [&] { ++first; });
  }
  {
    StopSignal::Scope scope(stop, [&] { ++second; });
    stop.Stop();
  }
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
}

TEST(StopSignal, CancelsAScopeThatOpensLater) {
  StopSignal stop;
  stop.Stop();
  int cancelled = 0;
  StopSignal::Scope scope(stop, [&] { ++cancelled; });
  EXPECT_EQ(cancelled, 1);
}

}  // namespace
}  // namespace reel::client
