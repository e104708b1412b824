// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/preemption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reel::front {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr absl::Duration kMoment = absl::Seconds(1000);

BegunJob Begun(double left, double deadline, bool may_park = true) {
  return {absl::Seconds(left), kMoment + absl::Seconds(deadline), false, may_park};
}
Urgent Needs(double seconds, double deadline) {
  return {absl::Seconds(seconds), kMoment + absl::Seconds(deadline)};
}

TEST(Preemption, ParksForOneThatWouldBeLate) {
  const std::vector<BegunJob> begun = {Begun(3, 600)};
  EXPECT_THAT(WhomToPark(begun, false, Needs(1, 4), kMoment), IsEmpty());
  EXPECT_THAT(WhomToPark(begun, false, Needs(1, 3), kMoment), ElementsAre(0));
}

TEST(Preemption, WhatIsLongBesideItIsParkedForAShortOne) {
  const std::vector<BegunJob> begun = {Begun(4, 600), Begun(3, 600), Begun(40, 600),
                                       Begun(40, 600, false)};
  EXPECT_THAT(WhomToPark(begun, false, Needs(1, 600), kMoment), ElementsAre(0, 2));
  EXPECT_THAT(WhomToPark({{Begun(30, 30.5)}}, false, Needs(1, 600), kMoment), IsEmpty());
}

TEST(Preemption, WhoHasHadLessWaitsForAQuarterOfItsRun) {
  std::vector<BegunJob> begun = {Begun(4, 600), Begun(1, 600), Begun(0.9, 600)};
  EXPECT_THAT(WhomToPark(begun, false, Needs(4, 600), kMoment), IsEmpty());
  for (BegunJob& job : begun) job.had_more = true;
  EXPECT_THAT(WhomToPark(begun, false, Needs(4, 600), kMoment), ElementsAre(0, 1));
  // Nobody misses a deadline for a share.
  EXPECT_THAT(WhomToPark({{Begun(4, 7, true)}}, false, Needs(4, 600), kMoment), IsEmpty());
}

TEST(Preemption, WhoHasHadLessMakesWayForADeadlineAlone) {
  std::vector<BegunJob> begun = {Begun(40, 600)};
  begun[0].only_for_deadline = true;
  EXPECT_THAT(WhomToPark(begun, false, Needs(1, 600), kMoment), IsEmpty());
  EXPECT_THAT(WhomToPark(begun, false, Needs(1, 30), kMoment), ElementsAre(0));
}

TEST(Preemption, ParksNobodyForOneThatIsLateAnyway) {
  EXPECT_THAT(WhomToPark({{Begun(30, 600)}}, false, Needs(5, 4), kMoment), IsEmpty());
  const std::vector<BegunJob> begun = {Begun(30, 600), Begun(30, 600, false)};
  EXPECT_THAT(WhomToPark(begun, false, Needs(5, 20), kMoment), IsEmpty());
}

TEST(Preemption, NobodyMissesADeadlineForAnother) {
  EXPECT_THAT(WhomToPark({{Begun(30, 34)}}, false, Needs(5, 6), kMoment), IsEmpty());
  EXPECT_THAT(WhomToPark({{Begun(30, 35)}}, false, Needs(5, 6), kMoment), ElementsAre(0));
  // Nor one that is parked already.
  std::vector<BegunJob> begun = {Begun(30, 100), Begun(30, 50)};
  begun[1].parked = true;
  EXPECT_THAT(WhomToPark(begun, false, Needs(5, 6), kMoment), IsEmpty());
}

TEST(Preemption, TheFewestAreParkedThoseWithTheMostSlack) {
  const std::vector<BegunJob> begun = {Begun(3, 100), Begun(30, 600), Begun(3, 200)};
  EXPECT_THAT(WhomToPark(begun, false, Needs(1, 8), kMoment), ElementsAre(1));
  EXPECT_THAT(WhomToPark(begun, false, Needs(1, 4), kMoment), ElementsAre(1, 2));
}

TEST(Preemption, JobsThatShareTheirStepsTakeAsLongAsTheLongest) {
  const std::vector<BegunJob> begun = {Begun(3, 600), Begun(3, 600), Begun(3, 600)};
  EXPECT_THAT(WhomToPark(begun, true, Needs(1, 5), kMoment), IsEmpty());
  EXPECT_THAT(WhomToPark(begun, false, Needs(1, 5), kMoment), ElementsAre(0, 1));
}

TEST(Preemption, WhoHasHadLessSharesNoStepsWithWhoHasHadMore) {
  std::vector<BegunJob> begun = {Begun(4, 600), Begun(0.9, 600), Begun(4, 600)};
  EXPECT_THAT(WhomToLeave(begun, Needs(4, 600), kMoment), IsEmpty());
  begun[0].had_more = begun[1].had_more = true;
  EXPECT_THAT(WhomToLeave(begun, Needs(4, 600), kMoment), ElementsAre(0));
  begun[0].deadline = kMoment + absl::Seconds(8);  // it would not meet that
  EXPECT_THAT(WhomToLeave(begun, Needs(4, 600), kMoment), IsEmpty());
  // A whole pack of small ones, and no more.
  std::vector<BegunJob> pack(kMostParkedForShare, Begun(1, 600));
  for (BegunJob& job : pack) job.had_more = true;
  EXPECT_EQ(WhomToLeave(pack, Needs(1, 600), kMoment).size(), kMostParkedForShare);
  pack.push_back(pack.back());
  EXPECT_THAT(WhomToLeave(pack, Needs(1, 600), kMoment), IsEmpty());
}

TEST(Preemption, AFewAreParkedAtATimeAndNoMore) {
  std::vector<BegunJob> begun(kMostParked, Begun(1, 600));
  for (BegunJob& job : begun) job.parked = true;
  begun.push_back(Begun(30, 600));
  EXPECT_THAT(WhomToPark(begun, false, Needs(1, 8), kMoment), IsEmpty());
  begun.front().parked = false;
  begun.front().may_park = false;
  EXPECT_THAT(WhomToPark(begun, false, Needs(1, 8), kMoment), ElementsAre(kMostParked));
}

}  // namespace
}  // namespace reel::front
