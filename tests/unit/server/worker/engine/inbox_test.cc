// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/inbox.h"

#include <gtest/gtest.h>

#include <thread>
#include <variant>

#include "server/worker/engine/piece_clock.h"

namespace reel::worker {
namespace {

TEST(Inbox, KeepsTheOrderOfCommands) {
  Inbox inbox;
  inbox.Post(CancelJob{"a"});
  inbox.Post(ResumeJob{"b"});
  const auto commands = inbox.Take();
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<CancelJob>(commands[0]));
  EXPECT_TRUE(inbox.Take().empty());
}

TEST(Inbox, AWakeSinceTakeEndsTheNextWaitAtOnce) {
  Inbox inbox;
  inbox.Take();
  inbox.Wake();
  inbox.WaitUntil(absl::InfiniteFuture());
}

TEST(Inbox, WaitsForAPostFromAnotherThread) {
  Inbox inbox;
  std::thread other([&] { inbox.Post(CancelJob{"a"}); });
  inbox.WaitUntil(absl::InfiniteFuture());
  EXPECT_EQ(inbox.Take().size(), 1u);
  other.join();
}

TEST(Inbox, WaitsUntilTheEnd) {
  Inbox inbox;
  const absl::Time end = SteadyNow() + absl::Milliseconds(20);
  EXPECT_GE(inbox.WaitUntil(end), absl::Milliseconds(19));
  EXPECT_GE(SteadyNow(), end);
}

TEST(Inbox, AStopEndsEveryWait) {
  Inbox inbox;
  inbox.Stop();
  inbox.Take();
  inbox.WaitUntil(absl::InfiniteFuture());
  EXPECT_TRUE(inbox.stopped());
}

TEST(PieceClock, TimesThePieceUnderWay) {
  PieceClock clock;
  EXPECT_EQ(clock.in_piece(), absl::ZeroDuration());
  {
    PieceClock::Piece piece(clock);
    EXPECT_GT(clock.in_piece(), absl::ZeroDuration());
  }
  EXPECT_EQ(clock.in_piece(), absl::ZeroDuration());
}

}  // namespace
}  // namespace reel::worker
