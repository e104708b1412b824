// SPDX-License-Identifier: Apache-2.0
// A group, which takes 1.9 times less for a video, beside single devices.
#include "server/front/scheduling/place_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/unit/server/front/jobs/mixed_pool_fixture.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class PlaceChoiceTest : public MixedPoolFixture {};

TEST_F(PlaceChoiceTest, OfTwoVideosTheLongOneGetsTheGroup) {
  AddBoth();
  CreateOne(Small("small"));
  CreateOne(Long("long"));
  EXPECT_THAT(Settled(), UnorderedElementsAre(Pair("small", kSingle), Pair("long", kGroup)));
}

TEST_F(PlaceChoiceTest, SmallVideosGoToSingleDevicesBesideALongOne) {
  AddBoth();
  AddSingle(kOther);
  for (const char* prompt : {"s1", "s2"}) CreateOne(Small(prompt));
  CreateOne(Long("long"));
  const Placed placed = Settled();
  EXPECT_EQ(placed.find("long")->second, kGroup);
  EXPECT_NE(placed.find("s1")->second, kGroup);
  EXPECT_NE(placed.find("s2")->second, kGroup);
}

TEST_F(PlaceChoiceTest, TwoGroupsGoToTheTwoThatGainMost) {
  AddBoth();
  AddGroup("y");
  CreateOne(Small("small"));
  for (const char* prompt : {"l1", "l2"}) CreateOne(Long(prompt));
  EXPECT_EQ(Settled().find("small")->second, kSingle);
}

TEST_F(PlaceChoiceTest, WhatHasAHigherPriorityKeepsTheGroup) {
  AddBoth();
  NewJob urgent = Shorter("urgent");
  urgent.priority = Priority::kHigh;
  CreateOne(urgent);
  CreateOne(Long("long"));
  EXPECT_THAT(Settled(), UnorderedElementsAre(Pair("urgent", kGroup), Pair("long", kSingle)));
}

TEST_F(PlaceChoiceTest, WhatIsDueKeepsTheGroup) {
  AddBoth();
  NewJob due = Shorter("due");
  due.timeout = absl::Seconds(30);
  CreateOne(due);
  CreateOne(Long("long"));
  EXPECT_THAT(Settled(), UnorderedElementsAre(Pair("due", kGroup), Pair("long", kSingle)));
}

TEST_F(PlaceChoiceTest, NothingIsIdleWhileSomethingWaits) {
  AddBoth();
  AddSingle(kOther);
  for (const char* prompt : {"s1", "s2", "s3"}) CreateOne(Small(prompt));
  std::set<std::string> taken;
  for (const auto& [prompt, worker] : Settled()) taken.insert(worker);
  EXPECT_THAT(taken, ElementsAre(kSingle, kOther, kGroup));
}

TEST_F(PlaceChoiceTest, ASmallVideoTakesTheGroupThatIsFree) {
  AddBoth();
  EXPECT_THAT(Create(Small("first")), ElementsAre(Pair("first", kGroup)));
  EXPECT_THAT(Create(Small("second")), ElementsAre(Pair("second", kSingle)));
  Ends("first");
  scheduler_->Settle();
  EXPECT_THAT(Create(Small("third")), ElementsAre(Pair("third", kGroup)));
}

TEST_F(PlaceChoiceTest, SmallVideosAreNotStarvedByLongOnesAtTheGroup) {
  AddBoth();
  for (const char* prompt : {"l1", "l2"}) Create(At(kSingle, Long(prompt)));
  for (const char* prompt : {"first", "second"}) Create(At(kGroup, Long(prompt)));
  for (const char* prompt : {"l1", "l2", "first", "second"}) Runs(prompt, 1);
  CreateOne(Small("small"));
  for (const char* prompt : {"l3", "l4"}) CreateOne(Long(prompt));
  EXPECT_TRUE(Settled().empty());
  Ends("first");
  EXPECT_THAT(Settled(), ElementsAre(Pair("small", kGroup)));
}

TEST_F(PlaceChoiceTest, IsNotLeftForABusyGroupThatEndsItLittleSooner) {
  AddBoth();
  Create(Long("first"));
  Runs("first", 4);  // 6 s are left, then 10 s of its own: 3 s before the single device
  EXPECT_THAT(Create(Long("second")), ElementsAre(Pair("second", kSingle)));
}

TEST_F(PlaceChoiceTest, IsLeftForABusyGroupThatEndsItClearlySooner) {
  AddBoth();
  Create(Long("first"));
  Runs("first", 8);
  EXPECT_THAT(Create(Long("second")), ElementsAre(Pair("second", kGroup)));
}

TEST_F(PlaceChoiceTest, ADeadlineThatOnlyTheGroupMeetsIsKept) {
  AddBoth();
  NewJob due = Long("due");
  due.timeout = absl::Seconds(18);
  Create(Long("first"));
  Runs("first", 4);
  EXPECT_THAT(Create(due), ElementsAre(Pair("due", kGroup)));
}

TEST_F(PlaceChoiceTest, ALongVideoIsParkedForADeadlineThatOnlyTheGroupMeets) {
  AddBoth();
  Create(Long("first"));
  Runs("first", 1);
  clock.Advance(absl::Milliseconds(300));
  Runs("first", 2);
  NewJob due = Long("due");
  due.timeout = absl::Seconds(16);
  EXPECT_THAT(Create(due), ElementsAre(Pair("due", kGroup)));
  EXPECT_FALSE(scheduler_->roster().workers().at(kGroup).held.begin()->second.parked_for.empty() &&
               scheduler_->roster().workers().at(kGroup).held.rbegin()->second.parked_for.empty());
}

TEST_F(PlaceChoiceTest, WaitsForAFullGroupAndLeavesTheSingleDeviceToOthers) {
  AddBoth();
  Create(At(kGroup, Small("first")));
  Create(At(kGroup, Small("second")));
  CreateOne(Long("long"));
  CreateOne(Long("longer"));
  EXPECT_THAT(Settled(), ElementsAre(Pair("longer", kSingle)));
  Ends("first");
  EXPECT_THAT(Settled(), ElementsAre(Pair("long", kGroup)));
}

TEST_F(PlaceChoiceTest, WaitsForAFullGroupNoLongerThanItsRun) {
  AddBoth();
  Create(At(kGroup, Small("first")));
  Create(At(kGroup, Small("second")));
  EXPECT_TRUE(Create(Long("long")).empty());
  clock.Advance(absl::Seconds(18));
  AddSingle();  // nothing new
  EXPECT_TRUE(Settled().empty());
  clock.Advance(absl::Seconds(3));
  AddSingle();
  EXPECT_THAT(Settled(), ElementsAre(Pair("long", kSingle)));
}

TEST_F(PlaceChoiceTest, InAPoolOfOneKindOrderAndLoadDecide) {
  AddSingle();
  AddSingle(kOther);
  LearnSteps(kSingle, 1);
  CreateOne(Small("small"));
  CreateOne(Long("long"));
  EXPECT_THAT(Settled(), UnorderedElementsAre(Pair("small", kSingle), Pair("long", kOther)));
  EXPECT_TRUE(EstimateOf(Small("x")).devices.empty());
}

TEST_F(PlaceChoiceTest, OfAKindThatIsNotKnownOrderAndLoadDecide) {
  AddSingle();
  AddGroup();
  LearnSteps(kSingle, 1);
  CreateOne(Small("small"));
  CreateOne(Long("long"));
  EXPECT_THAT(Settled(), UnorderedElementsAre(Pair("small", kSingle), Pair("long", kGroup)));
  const CostEstimate estimate = EstimateOf(Long("x"));
  ASSERT_EQ(estimate.devices.size(), 2U);
  EXPECT_EQ(estimate.devices[0].device, "H");
  EXPECT_FALSE(estimate.devices[1].observed);
}

TEST_F(PlaceChoiceTest, WithFifoCostsDecideNothing) {
  options.fifo = true;
  SchedulerFixture::TearDown();
  SchedulerFixture::SetUp();
  AddBoth();
  CreateOne(Long("long"));
  CreateOne(Small("small"));
  EXPECT_THAT(Settled(), UnorderedElementsAre(Pair("long", kSingle), Pair("small", kGroup)));
  EXPECT_TRUE(Create(Long("next")).empty());
}

TEST_F(PlaceChoiceTest, AnEstimateTellsOfEachKindAndADeadlineIsHeldAgainstTheFastest) {
  AddBoth();
  NewJob due = Long("due");
  due.timeout = absl::Seconds(14);
  const CostEstimate estimate = EstimateOf(due);
  EXPECT_TRUE(estimate.refusal.ok()) << estimate.refusal;
  ASSERT_EQ(estimate.devices.size(), 2U);
  EXPECT_EQ(estimate.devices[0].device, "2 x H");
  EXPECT_EQ(estimate.devices[1].device, "H");
  EXPECT_EQ(estimate.devices[0].run_p50, estimate.run_p50);
  EXPECT_NEAR(absl::ToDoubleSeconds(estimate.devices[0].run_p50), 10.1, 0.05);
  EXPECT_NEAR(absl::ToDoubleSeconds(estimate.devices[1].run_p50), 19.1, 0.05);
  EXPECT_EQ(EstimateOf(At(kSingle, due)).refusal.code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(PlaceChoiceTest, WhatAVideoTakesIsOfTheWorkerThatItWentTo) {
  AddBoth();
  CreateOne(Long("first"));
  CreateOne(Long("second"));
  scheduler_->Settle();
  EXPECT_NEAR(absl::ToDoubleSeconds(LeftAt(kGroup)), 10.1, 0.05);
  EXPECT_NEAR(absl::ToDoubleSeconds(LeftAt(kSingle)), 19.1, 0.05);
}

}  // namespace
}  // namespace reel::front
