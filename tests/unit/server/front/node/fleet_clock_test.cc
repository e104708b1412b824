// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/fleet_clock.h"

#include <gtest/gtest.h>

#include "tests/fakes/manual_clock.h"

namespace reel::front {
namespace {

using reel::testing::ManualClock;

constexpr absl::Duration kMost = absl::Seconds(5);

class FleetClockTest : public ::testing::Test {
 protected:
  // The brokers' clock is so far ahead of what this server's was at first; asked and answered at
  // once.
  void Hear(absl::Duration ahead) {
    const absl::Duration now = own_.Monotonic();
    clock_.Learn(TrueTime() + ahead, now, now);
  }
  absl::Time TrueTime() const { return began_ + (own_.Monotonic() - monotonic_); }

  ManualClock own_;
  const absl::Time began_ = own_.Wall();
  const absl::Duration monotonic_ = own_.Monotonic();
  FleetClock clock_{own_, kMost};
};

TEST_F(FleetClockTest, IsThisServersUntilTheBrokersIsKnown) {
  EXPECT_EQ(clock_.Wall(), own_.Wall());
  EXPECT_FALSE(clock_.Skew());
}

TEST_F(FleetClockTest, IsTheBrokersWhateverThisServersClockSays) {
  own_.JumpWall(absl::Minutes(11));
  Hear(absl::ZeroDuration());
  EXPECT_EQ(clock_.Wall(), TrueTime());
  EXPECT_EQ(clock_.Skew(), absl::Minutes(11));
  own_.Advance(absl::Seconds(30));
  own_.JumpWall(-absl::Hours(2));
  EXPECT_EQ(clock_.Wall(), TrueTime());
  EXPECT_EQ(clock_.Skew(), absl::Minutes(11) - absl::Hours(2));
}

TEST_F(FleetClockTest, ASlowAnswerMovesNothingThatItDoesNotContradict) {
  Hear(absl::Milliseconds(40));
  own_.Advance(absl::Seconds(3));
  const absl::Duration answered = own_.Monotonic();
  clock_.Learn(TrueTime() - absl::Seconds(1), answered - absl::Seconds(3), answered);
  EXPECT_EQ(clock_.Wall(), TrueTime() + absl::Milliseconds(40));
  // One that does moves it no further than it must.
  clock_.Learn(TrueTime() - absl::Seconds(4), answered - absl::Seconds(3), answered);
  EXPECT_EQ(clock_.Wall(), TrueTime() - absl::Seconds(1));
}

TEST_F(FleetClockTest, AJumpOfTheBrokersIsNotFollowedAgainstThisServersClock) {
  Hear(absl::ZeroDuration());
  Hear(absl::Minutes(11));
  EXPECT_EQ(clock_.Wall(), TrueTime());
  EXPECT_EQ(clock_.Skew(), -absl::Minutes(11));
  Hear(absl::ZeroDuration());
  EXPECT_EQ(clock_.Wall(), TrueTime());
  EXPECT_EQ(clock_.Skew(), absl::ZeroDuration());
}

// A machine that was suspended: its monotonic clock stood still, its wall clock was set after it.
TEST_F(FleetClockTest, AJumpThatThisServersClockConfirmsIsFollowed) {
  Hear(absl::ZeroDuration());
  own_.JumpWall(absl::Minutes(11));
  Hear(absl::Minutes(11));
  EXPECT_EQ(clock_.Wall(), own_.Wall());
  EXPECT_EQ(clock_.Skew(), absl::ZeroDuration());
}

}  // namespace
}  // namespace reel::front
