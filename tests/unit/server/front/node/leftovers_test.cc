// SPDX-License-Identifier: Apache-2.0
// Tests videos that an earlier process of a server has rendered, without a store of objects.
#include "server/front/node/leftovers.h"

#include <gtest/gtest.h>

#include "tests/unit/server/front/node/fleet_fixture.h"

namespace reel::front {
namespace {

using LeftoversTest = FleetFixture;

TEST_F(LeftoversTest, AResultWhoseEndWasNotWrittenIsToldByTheNextProcess) {
  Member& a = Add("a");
  JobPtr job = a.MustAsk(a.Request());
  const std::string id = job->Snapshot().id;
  const Sent sent = WhoRuns()->Take();
  log_.Cut(*a.port);
  a.RunToEnd(sent);
  a.Settle();
  Pass(absl::Seconds(1));
  EXPECT_EQ(log_.Count(".f."), 0);
  a.Begin();
  ASSERT_TRUE(Comes([&] { return a.StateOf(id) == VideoState::kSucceeded; }));
  EXPECT_EQ(log_.Count(".c."), 1);
  EXPECT_EQ(ReadAll(**a.Get(id)), "frames");
}

}  // namespace
}  // namespace reel::front
