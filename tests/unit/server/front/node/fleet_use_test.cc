// SPDX-License-Identifier: Apache-2.0
// Tests that use of a tenant anywhere counts everywhere.
#include "server/front/node/fleet_use.h"

#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "tests/unit/server/front/node/fleet_fixture.h"

namespace reel::front {
namespace {

constexpr absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

ViewBill Billed(const std::string& tenant, double seconds, absl::Duration ago = {}) {
  return {tenant, seconds, kNow - ago};
}

TEST(FleetUse, CountsBillsOfTheLastHour) {
  FleetUse use;
  use.Ended(Billed("a", 3, absl::Minutes(90)), kNow);
  EXPECT_EQ(use.DeviceSecondsOfHour("a", kNow), 0);
  use.Ended(Billed("a", 5, absl::Minutes(50)), kNow);
  use.Ended(Billed("a", 7), kNow);
  use.Ended(Billed("b", 9), kNow);
  EXPECT_EQ(use.DeviceSecondsOfHour("a", kNow), 12);
  EXPECT_EQ(use.DeviceSecondsOfHour("a", kNow + absl::Minutes(20)), 7);
  EXPECT_EQ(use.DeviceSecondsOfHour("c", kNow), 0);
}

class FleetUseTest : public FleetFixture {
 protected:
  Member& AddWith(const std::string& name, const std::function<void(JobOptions&)>& set,
                  bool with_worker = true) {
    auto& member = members_[name];
    member = std::make_unique<Member>(log_, serializer_, name, nullptr);
    set(member->options);
    member->Begin(with_worker);
    return *member;
  }
  void RunFor(Member& at, const Sent& sent, double device_seconds) {
    at.Progress(sent, model::Stage::kDenoise, 10);
    at.Media(sent, 0, "x");
    JobFinished finished;
    finished.stats.device_seconds = device_seconds;
    finished.media.size_bytes = 1;
    at.Report(sent, finished);
  }
  // One that is asked of the gateway, for so many device seconds.
  void RenderFor(double seconds, Member& node, Member& gateway) {
    const JobPtr job = gateway.MustAsk(gateway.Request());
    ASSERT_EQ(WhoRuns(), &node);
    RunFor(node, node.Take(), seconds);
    ASSERT_TRUE(Comes([&] { return job->state() == VideoState::kSucceeded; }));
  }
};

TEST_F(FleetUseTest, AQuotaCountsWhatOtherServersHaveRendered) {
  const auto limit = [](JobOptions& options) {
    options.tenants["t"] = {.device_seconds_per_hour = 5};
  };
  Member& a = AddWith("a", limit);
  Member& gateway = AddWith("gateway", limit, false);
  for (int i = 0; i < 2; ++i) ASSERT_NO_FATAL_FAILURE(RenderFor(3, a, gateway));
  EXPECT_EQ(ReasonOf(gateway.Ask(gateway.Request()).status()), Reason::kTenantQuota);
  // A server that comes later folds the same bills.
  Member& late = AddWith("late", limit, false);
  EXPECT_EQ(ReasonOf(late.Ask(late.Request()).status()), Reason::kTenantQuota);
  // One that is started again has kept them.
  late.Begin(false);
  EXPECT_EQ(ReasonOf(late.Ask(late.Request()).status()), Reason::kTenantQuota);
}

TEST_F(FleetUseTest, AGatewayTakesWhatTheFleetCanDoInTime) {
  const auto limit = [](JobOptions& options) { options.max_backlog_seconds = 10; };
  Member& a = AddWith("a", limit);
  Member& gateway = AddWith("gateway", limit, false);
  ASSERT_NO_FATAL_FAILURE(RenderFor(4, a, gateway));
  // Four seconds each, ten for the one device.
  int taken = 0;
  while (taken < 10 && gateway.Ask(gateway.Request()).ok()) ++taken;
  EXPECT_GE(taken, 2);
  EXPECT_LE(taken, 3);
  EXPECT_EQ(ReasonOf(gateway.Ask(gateway.Request()).status()), Reason::kQueueFull);
  // Another device is room for as much.
  AddWith("b", limit);
  Pass(absl::Seconds(2));
  EXPECT_TRUE(gateway.Ask(gateway.Request()).ok());
}

TEST_F(FleetUseTest, WhatATenantHasWaitingIsBoundedWhereverItWaits) {
  const auto limit = [](JobOptions& options) {
    options.tenants["t"].max_queued_device_seconds = 10;
  };
  Member& a = AddWith("a", limit);
  Member& gateway = AddWith("gateway", limit, false);
  ASSERT_NO_FATAL_FAILURE(RenderFor(4, a, gateway));
  // Four seconds each, asked for at two servers in turn, as soon as the other has read of it.
  int taken = 0;
  for (; taken < 10; ++taken) {
    Member& asked = taken % 2 == 0 ? a : gateway;
    const auto job = asked.Ask(a.Request());
    if (!job.ok()) break;
    Member& other = taken % 2 == 0 ? gateway : a;
    ASSERT_TRUE(Comes([&] { return other.Get((*job)->Snapshot().id).ok(); }));
  }
  EXPECT_GE(taken, 2);
  EXPECT_LE(taken, 3);
  for (Member* const member : {&a, &gateway}) {
    EXPECT_EQ(ReasonOf(member->Ask(a.Request()).status()), Reason::kTenantQuota);
  }
  NewJob other = a.Request();
  other.tenant = "u";
  EXPECT_TRUE(gateway.Ask(other).ok());
}

}  // namespace
}  // namespace reel::front
