// SPDX-License-Identifier: Apache-2.0
// A server that cannot render for now leaves videos to the others, and says why.
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "server/errors/error.h"
#include "tests/unit/server/front/node/fleet_fixture.h"

namespace reel::front {
namespace {

class UnfitNodeTest : public FleetFixture {
 protected:
  // `member` and one more process under its name, on a folder of its own.
  Member& AddDouble(const std::string& name) {
    auto& member = members_[name + " again"];
    member = std::make_unique<Member>(log_, serializer_, name);
    member->processes = 100;
    member->Begin(true, false);
    return *member;
  }
};

TEST_F(UnfitNodeTest, AVideoThatAFullDiskStoppedIsRenderedByAnother) {
  Member& a = Add("a");
  JobPtr job = a.MustAsk(a.Request());
  const Sent sent = WhoRuns()->Take();
  a.disk.room = 0;
  a.RunToEnd(sent);
  ASSERT_TRUE(Comes([&] { return log_.Count(".f.1") == 1; }));
  EXPECT_EQ(job->state(), VideoState::kQueued);
  Member& b = Add("b");
  ASSERT_TRUE(Comes([&] { return b.pool.num_waiting() == 1; }));
  b.RunToEnd(b.Take());
  EXPECT_TRUE(Comes([&] { return job->state() == VideoState::kSucceeded; }));
  EXPECT_TRUE(Comes([&] { return !a.service->admitting(); }));
  EXPECT_TRUE(absl::StrContains(a.service->Problem(), "disk of the data folder is full"))
      << a.service->Problem();
  EXPECT_TRUE(b.service->admitting()) << b.service->Problem();
}

TEST_F(UnfitNodeTest, AFullNodeClaimsAgainOnceThereIsRoom) {
  Member& a = Add("a");
  JobPtr job = a.MustAsk(a.Request());
  const Sent sent = WhoRuns()->Take();
  a.disk.room = 0;
  a.RunToEnd(sent);
  ASSERT_TRUE(Comes([&] { return log_.Count(".f.1") == 1; }));
  Pass(absl::Seconds(30));
  EXPECT_EQ(log_.Count(".c.2"), 0);
  EXPECT_EQ(job->state(), VideoState::kQueued);
  a.disk.room = int64_t{1} << 40;
  ASSERT_TRUE(Comes([&] { return a.pool.num_waiting() == 1; }));
  EXPECT_TRUE(a.service->admitting()) << a.service->Problem();
  a.RunToEnd(a.Take());
  EXPECT_TRUE(Comes([&] { return job->state() == VideoState::kSucceeded; }));
}

TEST_F(UnfitNodeTest, AVideoThatFitsNoDiskOfTheFleetFailsWithTheReason) {
  Member& a = Add("a");
  Member& b = Add("b");
  // Room enough to look good, and too little for a result.
  a.disk.room = b.disk.room = 3;
  JobPtr job = a.MustAsk(a.Request());
  // Each has it twice; one may have it more often before the other has had its turn.
  int runs = 0;
  while (runs < 10 && !IsFinal(job->state())) {
    Member* const at = WhoRuns();
    ASSERT_NE(at, nullptr) << runs;
    at->RunToEnd(at->Take());
    ++runs;
    ASSERT_TRUE(Comes([&] { return log_.Count(".f.") == runs; })) << runs;
    ASSERT_TRUE(Comes(
        [&] { return IsFinal(job->state()) || a.pool.num_waiting() + b.pool.num_waiting() > 0; }));
  }
  EXPECT_GE(runs, 4);
  ASSERT_TRUE(Comes([&] { return job->state() == VideoState::kFailed; }));
  EXPECT_EQ(ReasonOf(job->Snapshot().error), Reason::kStoreFull) << job->Snapshot().error;
}

TEST_F(UnfitNodeTest, AVideoWaitsForADiskThatHasNotTriedIt) {
  Member& a = Add("a");
  Member& b = Add("b");
  b.clock.JumpWall(absl::Minutes(1));  // it claims nothing, and may later
  log_.SetClock(brokers_clock_);
  ASSERT_TRUE(Comes([&] { return !b.service->admitting(); }));
  a.disk.room = 3;
  JobPtr job = a.MustAsk(a.Request());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(Comes([&] { return a.pool.num_waiting() == 1; })) << i;
    a.RunToEnd(a.Take());
    ASSERT_TRUE(Comes([&] { return log_.Count(".f.") == i + 1; })) << i;
  }
  EXPECT_FALSE(IsFinal(job->state()));
  b.clock.JumpWall(-absl::Minutes(1));
  ASSERT_TRUE(Comes([&] { return b.pool.num_waiting() == 1 || a.pool.num_waiting() == 1; }));
}

TEST_F(UnfitNodeTest, AnEndThatAFullDiskKeptIsNotThatOfALaterAttempt) {
  Member& a = Add("a");
  JobPtr job = a.MustAsk(a.Request());
  const Sent sent = WhoRuns()->Take();
  a.failing_store->fail_updates = a.failing_store->fail_removes = true;
  a.RunToEnd(sent);
  ASSERT_TRUE(Comes([&] { return log_.Count(".f.1") == 1; }));
  a.failing_store->fail_updates = a.failing_store->fail_removes = false;
  ASSERT_TRUE(Comes([&] { return a.pool.num_waiting() == 1; }));
  a.RunToEnd(a.Take());
  ASSERT_TRUE(Comes([&] { return job->state() == VideoState::kSucceeded; }));
  Pass(absl::Minutes(1));
  const auto stored = a.Find(job->Snapshot().id);
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ((*stored)->state(), VideoState::kSucceeded);
  EXPECT_EQ((*stored)->Snapshot().attempt, 101);
}

TEST_F(UnfitNodeTest, OfTwoProcessesOfOneNameTheEarlierClaimsAndTheLaterSaysWhy) {
  Member& a = Add("a");
  Pass(absl::Seconds(2));
  Member& again = AddDouble("a");
  Pass(absl::Seconds(2));
  EXPECT_TRUE(a.service->admitting()) << a.service->Problem();
  EXPECT_FALSE(again.service->admitting());
  EXPECT_TRUE(absl::StrContains(again.service->Problem(), "a:1")) << again.service->Problem();
  JobPtr job = again.MustAsk(again.Request());
  ASSERT_TRUE(Comes([&] { return a.pool.num_waiting() == 1; }));
  EXPECT_EQ(again.pool.num_waiting(), 0);
  a.RunToEnd(a.Take());
  EXPECT_TRUE(Comes([&] { return job->state() == VideoState::kSucceeded; }));
}

TEST_F(UnfitNodeTest, TheLaterProcessOfANameTakesOverWhenTheEarlierIsGone) {
  Member& a = Add("a");
  Pass(absl::Seconds(2));
  Member& again = AddDouble("a");
  Pass(absl::Seconds(2));
  JobPtr job = again.MustAsk(again.Request());
  ASSERT_TRUE(Comes([&] { return a.pool.num_waiting() == 1; }));
  a.Kill();
  ASSERT_TRUE(Comes([&] { return again.pool.num_waiting() == 1; }));
  EXPECT_TRUE(again.service->admitting()) << again.service->Problem();
  again.RunToEnd(again.Take());
  EXPECT_TRUE(Comes([&] { return job->state() == VideoState::kSucceeded; }));
}

}  // namespace
}  // namespace reel::front
