// SPDX-License-Identifier: Apache-2.0
// A server whose clock is wrong ends nobody's video: all go by the brokers' clock.
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "tests/fakes/memory_objects.h"
#include "tests/unit/server/front/node/fleet_fixture.h"

namespace reel::front {
namespace {

class SkewedClockTest : public FleetFixture {
 protected:
  SkewedClockTest() { log_.SetClock(brokers_clock_); }
  ~SkewedClockTest() override { members_.clear(); }

  Member& AddSkewed(const std::string& name, absl::Duration ahead, bool with_worker = true) {
    auto& member = members_[name];
    member = std::make_unique<Member>(log_, serializer_, name, objects_);
    member->clock.JumpWall(brokers_clock_.Wall() + ahead - member->clock.Wall());
    member->Begin(with_worker);
    return *member;
  }

  reel::testing::MemoryObjects store_;
};

TEST_F(SkewedClockTest, ANodeElevenMinutesAheadFailsNoVideoAndClaimsNone) {
  Member& right = Add("right");
  Member& ahead = AddSkewed("ahead", absl::Minutes(11));
  std::vector<JobPtr> jobs;
  for (int i = 0; i < 12; ++i) {
    Member& asked = i % 2 == 0 ? right : ahead;
    jobs.push_back(asked.MustAsk(asked.Request()));
  }
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(Comes([&] { return right.pool.num_waiting() > 0; })) << i;
    right.RunToEnd(right.Take());
  }
  for (const JobPtr& job : jobs) {
    EXPECT_TRUE(Comes([&] { return job->state() == VideoState::kSucceeded; }))
        << job->Snapshot().error;
  }
  EXPECT_EQ(ahead.pool.num_waiting(), 0);
  EXPECT_EQ(ahead.service->Fleet()->claims.won, 0);
  EXPECT_FALSE(ahead.service->admitting());
  EXPECT_TRUE(absl::StrContains(ahead.service->Problem(), "ahead of the brokers'"))
      << ahead.service->Problem();
  EXPECT_TRUE(right.service->admitting()) << right.service->Problem();
}

TEST_F(SkewedClockTest, ASmallSkewEndsNoVideoThatCanBeMadeInTime) {
  Member& right = Add("right", /*with_worker=*/false);
  Member& ahead = AddSkewed("ahead", absl::Seconds(4));
  NewJob request = right.Request();
  request.timeout = absl::Milliseconds(3500);
  JobPtr job = right.MustAsk(std::move(request));
  ASSERT_TRUE(Comes([&] { return ahead.pool.num_waiting() > 0; })) << job->Snapshot().error;
  ahead.RunToEnd(ahead.Take());
  EXPECT_TRUE(Comes([&] { return job->state() == VideoState::kSucceeded; }))
      << job->Snapshot().error;
  EXPECT_TRUE(ahead.service->admitting()) << ahead.service->Problem();
}

TEST_F(SkewedClockTest, ANodeWhoseClockIsSetRightClaimsAgain) {
  Member& behind = AddSkewed("behind", -absl::Seconds(6));
  JobPtr job = behind.MustAsk(behind.Request());
  Pass(absl::Seconds(2));
  EXPECT_EQ(behind.pool.num_waiting(), 0);
  EXPECT_EQ(log_.Count(".c."), 0);
  EXPECT_TRUE(absl::StrContains(behind.service->Problem(), "behind the brokers'"))
      << behind.service->Problem();
  behind.clock.JumpWall(absl::Seconds(6));
  ASSERT_TRUE(Comes([&] { return behind.pool.num_waiting() == 1; }));
  EXPECT_TRUE(behind.service->admitting()) << behind.service->Problem();
}

TEST_F(SkewedClockTest, WhatNoWorkerHasYetIsGivenBack) {
  objects_ = &store_;
  Member& gateway = AddSkewed("gateway", absl::ZeroDuration(), /*with_worker=*/false);
  JobPtr job = gateway.MustAsk(WithPicture(gateway, "a picture"));
  // It is claimed, and waits for its picture.
  store_.FailWith(absl::UnavailableError("away"));
  Member& a = AddSkewed("a", absl::ZeroDuration());
  ASSERT_TRUE(Comes([&] { return log_.Count(".c.1") == 1; }));
  a.clock.JumpWall(absl::Minutes(1));
  ASSERT_TRUE(Comes([&] { return log_.Count(".f.1") == 1; }));
  EXPECT_EQ(job->state(), VideoState::kQueued);
  store_.FailWith(absl::OkStatus());
  Member& b = AddSkewed("b", absl::ZeroDuration());
  ASSERT_TRUE(Comes([&] { return b.pool.num_waiting() == 1; }));
  EXPECT_EQ(a.pool.num_waiting(), 0);
  b.RunToEnd(b.Take());
  EXPECT_TRUE(Comes([&] { return job->state() == VideoState::kSucceeded; }));
}

TEST_F(SkewedClockTest, NothingIsClaimedBeforeTheBrokersHaveToldTheirTime) {
  log_.HideClock(true);
  Member& node = Add("a");
  JobPtr job = node.MustAsk(node.Request());
  Pass(absl::Seconds(3));
  EXPECT_EQ(log_.Count(".c."), 0);
  EXPECT_TRUE(absl::StrContains(node.service->Problem(), "not told their time"))
      << node.service->Problem();
  log_.HideClock(false);
  EXPECT_TRUE(Comes([&] { return node.pool.num_waiting() == 1; }));
}

}  // namespace
}  // namespace reel::front
