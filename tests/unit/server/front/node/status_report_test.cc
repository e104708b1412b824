// SPDX-License-Identifier: Apache-2.0
// Tests the status that a server tells of its fleet.
#include "server/front/node/status_report.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/fakes/memory_objects.h"
#include "tests/unit/server/front/node/fleet_fixture.h"

namespace reel::front {
namespace {

using NodeState = FleetStatus::NodeState;

class StatusReportTest : public FleetFixture {
 protected:
  ~StatusReportTest() override { members_.clear(); }

  static FleetStatus StatusOf(const Member& member) { return *member.service->Fleet(); }
  // As `member` sees it.
  static const FleetStatus::Node* Find(const FleetStatus& status, const std::string& name) {
    const auto found = std::find_if(status.nodes.begin(), status.nodes.end(),
                                    [&](const auto& node) { return node.name == name; });
    return found == status.nodes.end() ? nullptr : &*found;
  }
  bool IsSeenAs(const Member& at, const std::string& name, NodeState state) {
    return Comes([&] {
      const FleetStatus status = StatusOf(at);
      const FleetStatus::Node* const node = Find(status, name);
      return node != nullptr && node->state == state;
    });
  }
};

TEST_F(StatusReportTest, NodesAreShownWithWhatTheyHave) {
  Member& a = Add("a");
  Add("gateway", false);
  ASSERT_TRUE(IsSeenAs(a, "gateway", NodeState::kServing));
  ASSERT_TRUE(IsSeenAs(a, "a", NodeState::kServing));
  const FleetStatus status = StatusOf(a);
  EXPECT_EQ(status.fleet, "prod");
  EXPECT_EQ(status.node, "a");
  EXPECT_TRUE(Find(status, "a")->is_this);
  EXPECT_EQ(Find(status, "a")->address, "a:1");
  EXPECT_EQ(Find(status, "a")->devices, 1);
  EXPECT_EQ(Find(status, "gateway")->devices, 0);
  EXPECT_TRUE(status.log.connected);
  EXPECT_TRUE(status.log.ready);
}

TEST_F(StatusReportTest, WhoDiesIsSilentAndWhoDrainsHasLeft) {
  Member& a = Add("a");
  Member& b = Add("b");
  Member& c = Add("c");
  ASSERT_TRUE(IsSeenAs(a, "b", NodeState::kServing));
  ASSERT_TRUE(IsSeenAs(a, "c", NodeState::kServing));
  c.service->Drain(absl::ZeroDuration(), absl::ZeroDuration(), [] {});
  ASSERT_TRUE(IsSeenAs(a, "c", NodeState::kDraining));
  b.Kill();
  c.Kill();
  EXPECT_TRUE(IsSeenAs(a, "b", NodeState::kSilent));
  EXPECT_TRUE(IsSeenAs(a, "c", NodeState::kLeft));
}

TEST_F(StatusReportTest, EveryServerTellsTheSameBacklog) {
  Member& gateway = Add("gateway", false);
  Member& a = Add("a");
  for (int i = 0; i < 4; ++i) gateway.MustAsk(gateway.Request());
  const auto load = [](const Member& at) {
    const FleetStatus status = StatusOf(at);
    return status.backlog.size() == 1 ? status.backlog.begin()->second : FleetStatus::Backlog{};
  };
  ASSERT_TRUE(Comes([&] {
    return load(a).queued + load(a).claimed == 4 && load(a).claimed > 0 &&
           load(gateway).claimed == load(a).claimed;
  }));
  EXPECT_GT(load(a).seconds, 0);
  EXPECT_EQ(load(a).seconds, load(gateway).seconds);
  EXPECT_EQ(load(gateway).ready_devices, 1);
}

TEST_F(StatusReportTest, ATakeoverIsCountedWhereItWasDoneAndWhereItWasSuffered) {
  Member& a = Add("a");
  a.MustAsk(a.Request());
  const Sent first = WhoRuns()->Take();
  EXPECT_TRUE(Comes([&] { return StatusOf(a).claims.won == 1; }));
  Member& b = Add("b");
  Pass(absl::Seconds(1));
  log_.Cut(*a.port);
  ASSERT_TRUE(Comes([&] { return b.pool.num_waiting() == 1; }));
  EXPECT_TRUE(Comes([&] { return StatusOf(b).claims.takeovers == 1; }));
  EXPECT_FALSE(StatusOf(a).log.connected);
  log_.Mend(*a.port);
  EXPECT_TRUE(Comes([&] { return StatusOf(a).claims.superseded == 1; }));
  EXPECT_EQ(StatusOf(a).claims.takeovers, 0);
  EXPECT_EQ(StatusOf(b).claims.superseded, 0);
}

TEST_F(StatusReportTest, WhatIsGivenBackIsCountedByWhy) {
  Member& a = Add("a");
  a.MustAsk(a.Request());
  WhoRuns()->Take();
  a.Begin();
  ASSERT_TRUE(Comes([&] { return a.pool.num_waiting() == 1; }));
  const auto count = [&](ReleaseReason why) {
    return StatusOf(a).claims.releases[static_cast<size_t>(why)];
  };
  EXPECT_TRUE(Comes([&] { return count(ReleaseReason::kRestart) == 1; }));
  EXPECT_EQ(count(ReleaseReason::kShutdown), 0);
}

TEST_F(StatusReportTest, VoidMessagesAreCountedByWhy) {
  Member& a = Add("a");
  ASSERT_TRUE(log_.Append("j.t.nobody.c.1", WriteClaim({"a", ""})));
  EXPECT_TRUE(Comes([&] { return StatusOf(a).log.voids["unknown_job"] == 1; }));
}

TEST_F(StatusReportTest, ResultsThatWaitForTheStoreAreCountedWithTheirBytes) {
  reel::testing::MemoryObjects store;
  objects_ = &store;
  Member& a = Add("a");
  store.FailWith(absl::UnavailableError("away"));
  a.MustAsk(a.Request());
  a.RunToEnd(a.Take());
  ASSERT_TRUE(Comes([&] {
    const FleetStatus::Uploads uploads = StatusOf(a).uploads;
    return uploads.waiting == 1 && uploads.failed_tries > 0;
  }));
  EXPECT_TRUE(StatusOf(a).uploads.enabled);
  EXPECT_FALSE(StatusOf(a).uploads.store_good);
  EXPECT_EQ(StatusOf(a).uploads.waiting_bytes, 6);
  store.FailWith(absl::OkStatus());
  EXPECT_TRUE(Comes([&] { return StatusOf(a).uploads.stored == 1; }));
  EXPECT_EQ(StatusOf(a).uploads.waiting, 0);
  EXPECT_EQ(StatusOf(a).uploads.waiting_bytes, 0);
  members_.clear();
}

}  // namespace
}  // namespace reel::front
