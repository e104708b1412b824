// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/front/workers/restart_policy.h"

namespace reel::front {
namespace {

SteadyTime At(double seconds) {
  return SteadyTime() + absl::ToChronoNanoseconds(absl::Seconds(1000 + seconds));
}

class PausesTest : public ::testing::Test {
 protected:
  // Every tenth of a second, as the supervisor does.
  void Run(double from, double to) {
    for (double at = from; at < to; at += 0.1) EXPECT_FALSE(pauses_.Tick(At(at)).has_value());
  }
  Pauses pauses_;
};

TEST_F(PausesTest, ALateTickIsAPauseAndABusyMachineIsNone) {
  Run(0, 1);
  EXPECT_FALSE(pauses_.Tick(At(1.8)).has_value());
  EXPECT_EQ(pauses_.Tick(At(8.8)), absl::Seconds(7));
  EXPECT_FALSE(pauses_.Tick(At(8.9)).has_value());
}

TEST_F(PausesTest, OnlyTheTimeOutsideOfPausesCounts) {
  Run(0, 1);
  pauses_.Tick(At(7));
  Run(7.1, 8);
  pauses_.Tick(At(18));
  EXPECT_LT(pauses_.Awake(At(0), At(19)), absl::Seconds(3.2));
  EXPECT_GT(pauses_.Awake(At(0), At(19)), absl::Seconds(2.8));
  // Begun in a pause, ended in one.
  EXPECT_EQ(pauses_.Awake(At(3), At(6)), absl::ZeroDuration());
  EXPECT_EQ(pauses_.Awake(At(3), At(7.5)), absl::Seconds(0.5));
  EXPECT_EQ(pauses_.Awake(At(7.2), At(7.7)), absl::Seconds(0.5));
  // What happened between two looks at the clock is never negative.
  EXPECT_EQ(pauses_.Awake(At(9), At(8.5)), absl::ZeroDuration());
}

TEST_F(PausesTest, AThousandPausesAreNotForgottenTooSoon) {
  for (int second = 0; second < 1000; ++second) pauses_.Tick(At(2 * second));
  EXPECT_EQ(pauses_.Awake(At(0), At(1998)), absl::ZeroDuration());
}

}  // namespace
}  // namespace reel::front
