// SPDX-License-Identifier: Apache-2.0
// A server that cannot render for now leaves videos to the others, and says why.
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "tests/unit/server/front/node/fleet_fixture.h"

namespace reel::front {
namespace {

using UnfitNodeTest = FleetFixture;

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

}  // namespace
}  // namespace reel::front
