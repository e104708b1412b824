// SPDX-License-Identifier: Apache-2.0
// Tests the signs of life that a server hears.
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

// A gateway, which has no card to begin with.
class CardsTest : public FleetFixture {
 protected:
  Member& AddGateway() { return Add("gateway", false, true); }
  static absl::Status Ask(Member& at) { return at.Ask(at.Request()).status(); }
};

TEST_F(CardsTest, AGatewayThatComesBackUnderItsNameHearsCardsAtOnce) {
  Add("a");
  Member& gateway = AddGateway();
  ASSERT_TRUE(Comes([&] { return Ask(gateway).ok(); }));
  gateway.Begin(false);
  // Cards that nobody asks for come with each tenth beat.
  Pass(absl::Seconds(2));
  EXPECT_TRUE(Ask(gateway).ok());
}

TEST_F(CardsTest, AGatewayDeniesAModelOnlyOnceItKnowsWhatTheFleetServes) {
  Member& gateway = AddGateway();
  EXPECT_TRUE(absl::IsUnavailable(Ask(gateway)));
  Pass(absl::Seconds(5));
  EXPECT_TRUE(absl::IsUnavailable(Ask(gateway))) << "nobody has told anything";
  Add("a");
  ASSERT_TRUE(Comes([&] { return Ask(gateway).ok(); }));
  Pass(absl::Seconds(3));
  NewJob job = gateway.Request();
  job.spec.model = "none";
  EXPECT_TRUE(absl::IsNotFound(gateway.Ask(std::move(job)).status()));
}

}  // namespace
}  // namespace reel::front
