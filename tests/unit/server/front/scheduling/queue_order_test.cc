// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/queue_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reel::front {
namespace {

using ::testing::ElementsAre;

constexpr absl::Duration kNow = absl::Seconds(1000);

Waiting WaitingJob(std::string_view tenant, double arrived = 0, double deadline = 600,
                   double predicted = 10, Priority priority = Priority::kNormal) {
  return {tenant, priority, kNow + absl::Seconds(arrived), kNow + absl::Seconds(deadline),
          absl::Seconds(predicted)};
}

TEST(QueueOrder, LeastSlackGoesFirst) {
  const std::vector<Waiting> jobs = {WaitingJob("a", 0, 600), WaitingJob("a", 1, 45),
                                     WaitingJob("a", 2, 600, 590)};
  EXPECT_THAT(FairOrder(jobs, FairShare(), kNow), ElementsAre(2, 1, 0));
}

TEST(QueueOrder, AShortOnePassesALongOneButNotForEver) {
  const Waiting old = WaitingJob("a", 0, 600, 10);
  EXPECT_TRUE(RunsBefore(WaitingJob("a", 30, 630, 1), old, kNow));
  EXPECT_FALSE(RunsBefore(WaitingJob("a", 40, 640, 1), old, kNow));
}

TEST(QueueOrder, LittleTimePassesMuch) {
  std::vector<Waiting> jobs(50, WaitingJob("a", 0, 600, 10));
  jobs.push_back(WaitingJob("a", 5, 45, 10));
  EXPECT_EQ(FairOrder(jobs, FairShare(), kNow).front(), 50u);
}

TEST(QueueOrder, EqualSlackGoesByArrival) {
  const std::vector<Waiting> jobs = {WaitingJob("a", 2), WaitingJob("a", 1), WaitingJob("a", 3)};
  EXPECT_THAT(FairOrder(jobs, FairShare(), kNow), ElementsAre(1, 0, 2));
}

TEST(QueueOrder, PriorityComesBeforeSlack) {
  const std::vector<Waiting> jobs = {WaitingJob("a", 0, 600, 10, Priority::kLow),
                                     WaitingJob("a", 0, 300, 10, Priority::kNormal),
                                     WaitingJob("a", 0, 900, 10, Priority::kHigh)};
  EXPECT_THAT(FairOrder(jobs, FairShare(), kNow), ElementsAre(2, 1, 0));
}

TEST(QueueOrder, LowGrowsIntoNormalAfterAMinute) {
  const Waiting young = WaitingJob("a", -59, 100, 10, Priority::kLow);
  const Waiting old = WaitingJob("a", -60, 100, 10, Priority::kLow);
  const Waiting normal = WaitingJob("a", 0, 600);
  EXPECT_TRUE(RunsBefore(normal, young, kNow));
  EXPECT_TRUE(RunsBefore(old, normal, kNow));
}

TEST(QueueOrder, TenantsTakeTurnsByDeviceTimeNotByCount) {
  const std::vector<Waiting> jobs = {WaitingJob("a", 0, 600, 10), WaitingJob("a", 1, 600, 10),
                                     WaitingJob("b", 0, 600, 30), WaitingJob("b", 1, 600, 30),
                                     WaitingJob("a", 2, 600, 10), WaitingJob("a", 3, 600, 10)};
  EXPECT_THAT(FairOrder(jobs, FairShare(), kNow), ElementsAre(0, 2, 1, 4, 5, 3));
}

TEST(QueueOrder, PriorityTakesNoShareFromAnotherTenant) {
  FairShare share;
  share.Charge("a", absl::Seconds(100));
  const std::vector<Waiting> jobs = {WaitingJob("a", 0, 600, 10, Priority::kHigh),
                                     WaitingJob("b", 0, 600, 10, Priority::kLow)};
  EXPECT_THAT(FairOrder(jobs, share, kNow), ElementsAre(1, 0));
}

TEST(QueueOrder, WeightsAreShares) {
  FairShare share;
  share.SetWeight("a", 3);
  std::vector<Waiting> jobs;
  for (int i = 0; i < 40; ++i) jobs.push_back(WaitingJob(i % 2 == 0 ? "a" : "b", i));
  int of_a = 0;
  const auto order = FairOrder(jobs, share, kNow);
  for (size_t i = 0; i < 20; ++i) of_a += jobs[order[i]].tenant == "a" ? 1 : 0;
  EXPECT_NEAR(of_a, 15, 1);
}

TEST(FairShare, AnIdleTenantSavesUpLittle) {
  FairShare share;
  share.Charge("busy", absl::Hours(1));
  share.Wake("idle", {"busy"}, share);
  EXPECT_DOUBLE_EQ(share.virtual_time("idle"), 3600 - 10);
  // And loses nothing of what it has used.
  share.Charge("idle", absl::Hours(2));
  share.Wake("idle", {"busy"}, share);
  EXPECT_DOUBLE_EQ(share.virtual_time("idle"), 3590 + 7200);
}

TEST(FairShare, WhatIsGivenBackCounts) {
  FairShare share;
  share.Charge("a", absl::Seconds(10));
  share.Charge("a", -absl::Seconds(4));
  EXPECT_DOUBLE_EQ(share.virtual_time("a"), 6);
}

TEST(QueueOrder, NothingWaitsNothingIsOrdered) {
  EXPECT_TRUE(FairOrder({}, FairShare(), kNow).empty());
}

}  // namespace
}  // namespace reel::front
