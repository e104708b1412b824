// SPDX-License-Identifier: Apache-2.0
// What a server makes of the signs of life that it hears.
#include "server/front/node/beats.h"

#include <gtest/gtest.h>

#include "tests/unit/server/front/node/fleet_fixture.h"

namespace reel::front {
namespace {

using BeatsTest = FleetFixture;

TEST_F(BeatsTest, WhoDoesNotHearItselfTakesNothingFromOthers) {
  Member& a = Add("a");
  a.MustAsk(a.Request());
  WhoRuns()->Take();
  Member& b = Add("b");
  Pass(absl::Seconds(2));
  log_.Deafen(*b.port);
  Pass(absl::Seconds(10));
  EXPECT_EQ(log_.Count(".c.2"), 0);
  // Who hears itself does.
  Member& c = Add("c");
  Pass(absl::Seconds(2));
  a.Kill();
  EXPECT_TRUE(Comes([&] { return c.pool.num_waiting() == 1; }));
  EXPECT_EQ(log_.Count(".c.2"), 1);
}

}  // namespace
}  // namespace reel::front
