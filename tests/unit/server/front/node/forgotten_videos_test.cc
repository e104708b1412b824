// SPDX-License-Identifier: Apache-2.0
// Videos that have left memory since nobody can ask for them any more.
#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "tests/unit/server/front/node/fleet_fixture.h"

namespace reel::front {
namespace {

using ForgottenVideosTest = FleetFixture;

constexpr char kId[] = "8c5b0f60-0000-4000-8000-000000000009";

TEST_F(ForgottenVideosTest, ARequestIdWhoseResultIsForgottenIsUsedUp) {
  Member& a = Add("a");
  const JobPtr job = a.MustAsk(RequestWithId(kId));
  const std::string id = job->Snapshot().id;
  a.RunToEnd(WhoRuns()->Take());
  ASSERT_TRUE(Comes([&] { return job->state() == VideoState::kSucceeded; }));
  a.clock.JumpWall(absl::Hours(26));
  Pass(absl::Seconds(3));
  EXPECT_EQ(ReasonOf(a.Get(id).status()), Reason::kVideoNotFound);
  EXPECT_EQ(ReasonOf(a.Ask(RequestWithId(kId)).status()), Reason::kVideoExpired);
  EXPECT_EQ(ReasonOf(a.Ask(RequestWithId(kId, "another")).status()), Reason::kVideoExpired);
  EXPECT_EQ(log_.Count(".q"), 1);
  // What has not ended stays, however old.
  EXPECT_TRUE(a.Ask(a.Request()).ok());
}

TEST_F(ForgottenVideosTest, ARequestIdWhoseFailureIsForgottenIsFree) {
  Member& a = Add("a");
  const JobPtr job = a.MustAsk(RequestWithId(kId));
  const std::string id = job->Snapshot().id;
  WhoRuns();
  EXPECT_TRUE(Await<Video>([&](auto done) { a.service->Cancel({"t"}, id, std::move(done)); }).ok());
  ASSERT_TRUE(Comes([&] { return job->state() == VideoState::kCancelled; }));
  a.clock.JumpWall(absl::Hours(3));
  Pass(absl::Seconds(3));
  const JobPtr again = a.MustAsk(RequestWithId(kId, "another"));
  EXPECT_NE(again->Snapshot().id, id);
  EXPECT_EQ(log_.Count(".r.2"), 1);
}

}  // namespace
}  // namespace reel::front
