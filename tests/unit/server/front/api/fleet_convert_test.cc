// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/front/api/server_answers.h"

namespace reel::front {
namespace {

TEST(FleetToProto, ShowsAllThatIsKnown) {
  FleetStatus status;
  status.fleet = "prod";
  status.node = "a";
  FleetStatus::Node node;
  node.name = "b";
  node.state = FleetStatus::NodeState::kSilent;
  node.address = "h:1";
  node.build = "1 r";
  node.since_beat = absl::Seconds(7);
  node.behind = 3;
  node.devices = 2;
  node.claimed = 4;
  node.room = 1;
  node.models = {{"m", 2}};
  status.nodes = {node};
  status.backlog["m"] = {5, 4, 2, 1.5};
  status.log.connected = true;
  status.log.position = 10;
  status.log.newest = 12;
  status.log.behind = absl::Seconds(2);
  status.log.voids["ended"] = 6;
  status.log.unknown = 8;
  status.log.versions = {"2.10.29"};
  status.claims.superseded = 9;
  status.claims.releases = {1, 2, 3, 4};
  const v1::GetFleetResponse proto = FleetToProto(status);
  EXPECT_EQ(proto.name(), "prod");
  EXPECT_EQ(proto.node(), "a");
  ASSERT_EQ(proto.nodes_size(), 1);
  EXPECT_EQ(proto.nodes(0).state(), v1::FLEET_NODE_STATE_SILENT);
  EXPECT_EQ(proto.nodes(0).address(), "h:1");
  EXPECT_EQ(proto.nodes(0).build(), "1 r");
  EXPECT_EQ(proto.nodes(0).since_beat().seconds(), 7);
  EXPECT_EQ(proto.nodes(0).behind_messages(), 3);
  EXPECT_EQ(proto.nodes(0).ready_devices(), 2);
  EXPECT_EQ(proto.nodes(0).claimed(), 4);
  EXPECT_EQ(proto.nodes(0).room(), 1);
  EXPECT_EQ(proto.nodes(0).models(0).name(), "m");
  EXPECT_EQ(proto.nodes(0).models(0).ready_devices(), 2);
  ASSERT_EQ(proto.models_size(), 1);
  EXPECT_EQ(proto.models(0).queued(), 5);
  EXPECT_EQ(proto.models(0).claimed(), 4);
  EXPECT_EQ(proto.models(0).ready_devices(), 2);
  EXPECT_EQ(proto.models(0).backlog().nanos(), 500'000'000);
  EXPECT_TRUE(proto.log().connected());
  EXPECT_FALSE(proto.log().answers());
  EXPECT_EQ(proto.log().position(), 10);
  EXPECT_EQ(proto.log().behind_messages(), 2);
  EXPECT_EQ(proto.log().behind().seconds(), 2);
  EXPECT_EQ(proto.log().void_messages().at("ended"), 6);
  EXPECT_EQ(proto.log().unanswered(), 8);
  EXPECT_EQ(proto.log().broker_versions(0), "2.10.29");
  EXPECT_EQ(proto.claims().superseded(), 9);
  EXPECT_EQ(proto.claims().released(), 10);
  EXPECT_FALSE(proto.has_uploads());
}

TEST(FleetToProto, ShowsUploadsWhereThereIsAStore) {
  FleetStatus status;
  status.uploads = {true, true, 2, 32, 4096, 7, 1, 5};
  const v1::GetFleetResponse proto = FleetToProto(status);
  EXPECT_TRUE(proto.uploads().store_works());
  EXPECT_EQ(proto.uploads().waiting(), 2);
  EXPECT_EQ(proto.uploads().limit(), 32);
  EXPECT_EQ(proto.uploads().waiting_bytes(), 4096);
  EXPECT_EQ(proto.uploads().failed_tries(), 5);
}

TEST(CheckToProto, KeepsEveryWord) {
  const v1::FleetCheck proto = CheckToProto({"fleet store", false, "away", "start it"});
  EXPECT_EQ(proto.name(), "fleet store");
  EXPECT_FALSE(proto.ok());
  EXPECT_EQ(proto.detail(), "away");
  EXPECT_EQ(proto.hint(), "start it");
}

}  // namespace
}  // namespace reel::front
