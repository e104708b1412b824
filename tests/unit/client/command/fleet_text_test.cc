// SPDX-License-Identifier: Apache-2.0
#include "client/command/fleet_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/client/command/command_fixture.h"

namespace reel::client {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

using FleetCommandTest = CommandTest;

v1::GetFleetResponse Sample() {
  v1::GetFleetResponse fleet;
  fleet.set_name("prod");
  fleet.set_node("a");
  for (const char* name : {"a", "b", "c"}) {
    v1::FleetNode& node = *fleet.add_nodes();
    node.set_name(name);
    node.set_build("1.0 abc");
    node.set_state(v1::FLEET_NODE_STATE_SERVING);
    node.mutable_since_beat()->set_nanos(400'000'000);
  }
  fleet.mutable_nodes(0)->add_models()->set_name("big");
  fleet.mutable_nodes(1)->set_state(v1::FLEET_NODE_STATE_SILENT);
  fleet.mutable_nodes(1)->mutable_since_beat()->set_seconds(9);
  fleet.mutable_nodes(1)->set_behind_messages(17);
  v1::FleetModel& model = *fleet.add_models();
  model.set_name("big");
  model.set_queued(3);
  model.mutable_backlog()->set_seconds(42);
  v1::FleetLog& log = *fleet.mutable_log();
  log.set_connected(true);
  log.set_answers(true);
  log.set_ready(true);
  log.set_position(120);
  (*log.mutable_void_messages())["wrong_epoch"] = 2;
  log.add_broker_versions("2.10.29");
  fleet.mutable_claims()->set_won(8);
  return fleet;
}

TEST(DescribeFleet, ShowsNodesBacklogAndTheLog) {
  const std::string text = DescribeFleet(Sample());
  EXPECT_THAT(text, HasSubstr("prod  2 of 3 servers serve"));
  EXPECT_THAT(text, ContainsRegex("a\\* +serving +400 ms ago"));
  EXPECT_THAT(text, ContainsRegex("b +silent +9.4 s ago.* 17 "));
  EXPECT_THAT(text, HasSubstr("big (not ready)"));
  EXPECT_THAT(text, ContainsRegex("big +3 +0 +42"));
  EXPECT_THAT(text, AllOf(HasSubstr("read to its end, 120"), HasSubstr("2 wrong_epoch"),
                          HasSubstr("2.10.29"), HasSubstr("8 won")));
  EXPECT_THAT(text, Not(HasSubstr("store")));
  EXPECT_THAT(text, Not(HasSubstr("builds are")));
}

TEST(DescribeFleet, SaysWhatIsWrongWithTheLog) {
  v1::GetFleetResponse fleet = Sample();
  fleet.mutable_log()->set_behind_messages(12);
  fleet.mutable_log()->mutable_behind()->set_seconds(3);
  EXPECT_THAT(DescribeFleet(fleet), HasSubstr("12 messages behind, for 3.0 s"));
  fleet.mutable_log()->set_answers(false);
  EXPECT_THAT(DescribeFleet(fleet), HasSubstr("no quorum"));
  fleet.mutable_log()->set_connected(false);
  EXPECT_THAT(DescribeFleet(fleet), HasSubstr("no broker is connected"));
}

TEST(DescribeFleet, SaysWhatWaitsForTheStoreAndThatBuildsAreMixed) {
  v1::GetFleetResponse fleet = Sample();
  fleet.mutable_uploads()->set_waiting(5);
  fleet.mutable_uploads()->set_limit(32);
  fleet.mutable_nodes(2)->set_build("1.1 def");
  const std::string text = DescribeFleet(fleet);
  EXPECT_THAT(text, HasSubstr("does not work; 5 of at most 32 results wait"));
  EXPECT_THAT(text, HasSubstr("2 builds are in the fleet"));
}

TEST(DescribeFleet, AServerThatIsAloneSaysSo) {
  EXPECT_THAT(DescribeFleet({}), HasSubstr("no block `fleet`"));
}

TEST_F(FleetCommandTest, ShowsTheFleetForPeopleAndForScripts) {
  EXPECT_EQ(Run({"fleet", "--once"}), 0) << err_;
  EXPECT_THAT(out_, AllOf(HasSubstr("prod"), HasSubstr("silent")));
  EXPECT_EQ(Run({"--json", "fleet"}), 0);
  EXPECT_THAT(out_, AllOf(HasSubstr("\"name\":\"prod\""), HasSubstr("FLEET_NODE_STATE_SILENT")));
  EXPECT_EQ(Run({"fleet", "--every", "0"}), 2);
}

}  // namespace
}  // namespace reel::client
