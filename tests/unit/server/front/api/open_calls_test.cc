// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/open_calls.h"

#include <gtest/gtest.h>

#include <thread>

namespace reel::front {
namespace {

TEST(OpenCalls, AreWaitedFor) {
  OpenCalls open;
  EXPECT_TRUE(open.WaitForNone(absl::ZeroDuration()));
  open.Enter();
  open.Enter();
  open.Leave();
  EXPECT_EQ(open.count(), 1);
  EXPECT_FALSE(open.WaitForNone(absl::ZeroDuration()));
  std::thread other([&] { open.Leave(); });
  EXPECT_TRUE(open.WaitForNone(absl::Seconds(30)));
  other.join();
}

}  // namespace
}  // namespace reel::front
