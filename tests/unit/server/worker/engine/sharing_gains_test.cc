// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/sharing_gains.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace reel::worker {
namespace {

class SharingGainsTest : public ::testing::Test {
 protected:
  using Rows = std::vector<int64_t>;

  static Sharers Of(const Rows& rows, absl::Duration slack = absl::InfiniteDuration()) {
    return {"m", "auto", rows, slack};
  }
  void Step(const Rows& rows, int milliseconds, int times = SharingGains::kWindow) {
    for (int i = 0; i < times; ++i) {
      gains_.Stepped(Of(rows), absl::Milliseconds(milliseconds), /*tells=*/true);
    }
  }
  void TellNothing(const Rows& rows, int times = 1) {
    for (int i = 0; i < times; ++i) {
      gains_.Stepped(Of(rows), absl::Milliseconds(1), /*tells=*/false);
    }
  }
  // Steps of so many of these were made.
  void PassOver(const Rows& rows, size_t jobs, int milliseconds) {
    gains_.PassedOver(Of(rows), jobs, absl::Milliseconds(milliseconds));
  }
  size_t Choose(const Rows& rows) const { return gains_.Choose(Of(rows)).jobs; }
  // While no others come.
  size_t ChooseLast(const Rows& rows) const {
    Sharers all = Of(rows);
    all.more_come = false;
    return gains_.Choose(all).jobs;
  }

  SharingGains gains_;
};

TEST_F(SharingGainsTest, AllShareWhileNothingIsKnown) {
  EXPECT_EQ(Choose({100, 100}), 2U);
  // The gain of jobs that were never alone is unknown.
  Step({100, 100}, 50, 10);
  EXPECT_EQ(Choose({100, 100}), 2U);
  // And of those that have not shared yet.
  Step({100}, 1);
  EXPECT_EQ(Choose({100, 100}), 2U);
  Step({100, 100}, 50, 4);
  EXPECT_EQ(Choose({100, 100}), 2U);
}

TEST_F(SharingGainsTest, ALossIsNotShared) {
  Step({100}, 10);
  Step({100, 100}, 21);
  EXPECT_EQ(Choose({100, 100}), 1U);
  EXPECT_EQ(gains_.Apart(Of({100, 100})), absl::Milliseconds(20));
  EXPECT_NEAR(gains_.GainOf(Of({100, 100})).value(), 0.95, 0.01);
}

TEST_F(SharingGainsTest, AGainIsShared) {
  Step({100}, 38);
  Step(Rows(2, 100), 2 * 35);
  Step(Rows(4, 100), 4 * 32);
  Step(Rows(8, 100), 8 * 29, 200);
  EXPECT_EQ(Choose(Rows(8, 100)), 8U);
}

TEST_F(SharingGainsTest, AGainOfLessThanATwentiethIsNone) {
  Step({1000}, 1000);
  Step({1000, 1000}, 1910);
  EXPECT_EQ(Choose({1000, 1000}), 1U);
  Step({500}, 1000);
  Step({500, 500}, 1900);
  EXPECT_EQ(Choose({500, 500}), 2U);
}

// All share as long as that gains anything, though four at a time would make a quarter more.
TEST_F(SharingGainsTest, TheSizeThatGainsMostIsUsed) {
  Step({100}, 10);
  Step(Rows(8, 100), 67);
  Step(Rows(4, 100), 27);
  Step(Rows(2, 100), 16);
  EXPECT_EQ(Choose(Rows(8, 100)), 4U);
  EXPECT_EQ(Choose(Rows(4, 100)), 4U);
  EXPECT_EQ(Choose(Rows(2, 100)), 2U);
}

TEST_F(SharingGainsTest, OfSizesThatGainAlikeTheLargestIsUsed) {
  Step({100}, 100);
  Step(Rows(4, 100), 270);
  Step(Rows(2, 100), 133);
  EXPECT_EQ(Choose(Rows(4, 100)), 4U);
}

TEST_F(SharingGainsTest, SmallerSizesOfEqualJobsAreMeasuredAfterAll) {
  Step({100}, 10);
  Step(Rows(8, 100), 60);
  EXPECT_EQ(Choose(Rows(8, 100)), 4U);
  Step(Rows(4, 100), 32);
  EXPECT_EQ(Choose(Rows(8, 100)), 2U);
  Step(Rows(2, 100), 18);
  EXPECT_EQ(Choose(Rows(8, 100)), 8U);
  // Jobs of several sizes are of so many kinds that only a loss is worth it.
  Step({50}, 5);
  const Rows mixed = {100, 50, 50, 50};
  Step(mixed, 20);
  EXPECT_EQ(Choose(mixed), 4U);
  Step(mixed, 40, 50);
  EXPECT_EQ(Choose(mixed), 2U);
}

TEST_F(SharingGainsTest, ASizeThatNeverSaysAnythingIsGivenUp) {
  Step({100}, 10);
  Step(Rows(4, 100), 30);
  EXPECT_EQ(Choose(Rows(4, 100)), 2U);
  TellNothing(Rows(2, 100), 24);
  EXPECT_EQ(Choose(Rows(4, 100)), 4U);
}

// Three equal jobs one after the other end after two solo runs in the mean.
TEST_F(SharingGainsTest, WhileNoOthersComeTheMeanOfTheEndsDecides) {
  Step({100}, 10);
  Step(Rows(3, 100), 24);  // together after 2.4
  Step(Rows(2, 100), 17);
  EXPECT_EQ(Choose(Rows(3, 100)), 3U);
  EXPECT_EQ(ChooseLast(Rows(3, 100)), 1U);
  EXPECT_EQ(Choose(Rows(2, 100)), 2U);
  EXPECT_EQ(ChooseLast(Rows(2, 100)), 1U);
  Step(Rows(3, 100), 18, 50);
  Step(Rows(2, 100), 13, 50);
  EXPECT_EQ(ChooseLast(Rows(3, 100)), 3U);
  EXPECT_EQ(ChooseLast(Rows(2, 100)), 2U);
}

TEST_F(SharingGainsTest, OutliersDoNotCount) {
  Step({100}, 10, 4);
  Step({100}, 500, 2);  // a graph is recorded, and the machine is busy
  EXPECT_EQ(gains_.Apart(Of({100})), absl::Milliseconds(10));
  Step({100, 100}, 900, 2);
  Step({100, 100}, 15, 3);
  EXPECT_EQ(Choose({100, 100}), 2U);
}

TEST_F(SharingGainsTest, AStepThatTellsNothingIsNotLearnedFrom) {
  Step({100}, 10);
  for (int i = 0; i < 20; ++i) {
    gains_.Stepped(Of({100}), absl::Seconds(1), /*tells=*/false);
    gains_.Stepped(Of({100, 100}), absl::Seconds(1), /*tells=*/false);
  }
  EXPECT_EQ(gains_.Apart(Of({100})), absl::Milliseconds(10));
  EXPECT_EQ(Choose({100, 100}), 2U);
}

TEST_F(SharingGainsTest, AnUnseenBatchIsTakenForTheMostSimilarOne) {
  Step({100}, 10);
  Step({1000}, 100);
  Step({100, 1000}, 150);
  EXPECT_EQ(Choose({104, 980}), 1U);
  EXPECT_EQ(Choose({1000, 100}), 1U);
  // As many rows of equal jobs, of more jobs, or half as many are something else.
  EXPECT_EQ(Choose({550, 550}), 2U);
  EXPECT_EQ(Choose({50, 50, 1000}), 3U);
  EXPECT_EQ(Choose({50, 500}), 2U);
}

TEST_F(SharingGainsTest, ModelsAndPlansAreApart) {
  Step({100}, 10);
  Step({100, 100}, 30);
  const Rows two = {100, 100};
  EXPECT_EQ(gains_.Choose({"m", "fp8", two}).jobs, 2U);
  EXPECT_EQ(gains_.Choose({"n", "auto", two}).jobs, 2U);
  gains_.Forget("n");
  EXPECT_EQ(Choose({100, 100}), 1U);
  gains_.Forget("m");
  EXPECT_EQ(Choose({100, 100}), 2U);
  EXPECT_EQ(gains_.size(), 0U);
}

TEST_F(SharingGainsTest, ASmallLossIsMeasuredAgainSoonAndALargeOneLater) {
  Step({100}, 10);
  Step({100, 100}, 20);  // costs 5 % while it is tried
  PassOver({100, 100}, 1, 159);
  EXPECT_EQ(Choose({100, 100}), 1U);
  PassOver({100, 100}, 1, 1);
  EXPECT_EQ(Choose({100, 100}), 2U);
  Step({200}, 10);
  Step({200, 200}, 40);  // costs 52 %
  PassOver({200, 200}, 1, 1040);
  EXPECT_EQ(Choose({200, 200}), 1U);
  PassOver({200, 200}, 1, 20);
  EXPECT_EQ(Choose({200, 200}), 2U);
}

TEST_F(SharingGainsTest, ATrialThatChangesNothingDoublesTheWait) {
  Step({100}, 10);
  Step({100, 100}, 20);
  for (int wait = 160; wait <= 640; wait *= 2) {
    PassOver({100, 100}, 1, wait - 5);
    EXPECT_EQ(Choose({100, 100}), 1U) << wait;
    PassOver({100, 100}, 1, 10);
    EXPECT_EQ(Choose({100, 100}), 2U) << wait;
    Step({100, 100}, 20, SharingGains::kTrialTells);
    EXPECT_EQ(Choose({100, 100}), 1U) << wait;
  }
  // Never longer than 300 shared steps.
  for (int i = 0; i < 20; ++i) {
    PassOver({100, 100}, 1, 6000);
    EXPECT_EQ(Choose({100, 100}), 2U) << i;
    Step({100, 100}, 20, SharingGains::kTrialTells);
  }
}

TEST_F(SharingGainsTest, ATrialThatPaysIsBelievedAtOnce) {
  Step({100}, 10);
  Step({100, 100}, 30);
  PassOver({100, 100}, 1, 9000);
  Step({100, 100}, 12, SharingGains::kTrialTells - 1);
  EXPECT_EQ(Choose({100, 100}), 2U);  // until it is over
  Step({100, 100}, 12, 1);
  EXPECT_EQ(Choose({100, 100}), 2U);
  EXPECT_NEAR(gains_.GainOf(Of({100, 100})).value(), 1.67, 0.01);
}

// A busy machine makes a few steps slow: what is used is not given up for that.
TEST_F(SharingGainsTest, AFewSlowStepsChangeNothing) {
  Step({100}, 10);
  Step({100, 100}, 15);
  Step({100, 100}, 22, 5);
  EXPECT_EQ(Choose({100, 100}), 2U);
  Step({100, 100}, 22, 50);
  EXPECT_EQ(Choose({100, 100}), 1U);
}

TEST_F(SharingGainsTest, ATrialEndsAfterEightStepsAtMost) {
  Step({100}, 10);
  Step({100, 100}, 30);
  PassOver({100, 100}, 1, 9000);
  TellNothing({100, 100}, SharingGains::kMostTried - 1);
  EXPECT_EQ(Choose({100, 100}), 2U);
  TellNothing({100, 100});
  EXPECT_EQ(Choose({100, 100}), 1U);
}

// Two that were measured to lose, and are half of four that lose indeed.
TEST_F(SharingGainsTest, EverySizeThatIsPassedOverIsMeasuredAgain) {
  Step({100}, 10);
  Step(Rows(4, 100), 50);
  Step(Rows(2, 100), 25);
  EXPECT_EQ(Choose(Rows(4, 100)), 1U);
  PassOver(Rows(4, 100), 1, 400);
  EXPECT_EQ(Choose(Rows(4, 100)), 2U);
  Step(Rows(2, 100), 12, SharingGains::kTrialTells);
  EXPECT_EQ(Choose(Rows(4, 100)), 2U);
}

TEST_F(SharingGainsTest, NothingIsMeasuredBesideAJobThatMustEndSoon) {
  Step({100}, 10);
  Step({100, 100}, 30);
  PassOver({100, 100}, 1, 9000);
  const Rows two = {100, 100};
  EXPECT_EQ(gains_.Choose(Of(two, absl::Milliseconds(8999))).jobs, 1U);
  EXPECT_EQ(gains_.Choose(Of(two, absl::Milliseconds(9000))).jobs, 2U);
}

TEST_F(SharingGainsTest, ALeadIsSteppedAloneNowAndThenToMeasureItsSoloTime) {
  Step({100}, 20);
  Step({100, 100}, 15, SharingGains::kLookAfter - 1);
  EXPECT_EQ(Choose({100, 100}), 2U);
  Step({100, 100}, 15, 1);
  EXPECT_EQ(Choose({100, 100}), 1U);
  EXPECT_EQ(Choose({100, 200}), 1U);  // whoever it leads
  EXPECT_EQ(Choose({200, 100}), 2U);
  const Rows two = {100, 100};
  EXPECT_TRUE(gains_.Choose(Of(two)).is_look);
  EXPECT_EQ(gains_.Choose(Of(two, absl::Seconds(1))).jobs, 2U);
  TellNothing({100}, 2);
  EXPECT_EQ(Choose({100, 100}), 1U);
  Step({100}, 20, 1);
  EXPECT_EQ(Choose({100, 100}), 2U);
}

TEST_F(SharingGainsTest, ALeadThatWasNeverAloneIsMeasuredSoon) {
  Step({100, 100}, 15, SharingGains::kFirstLookAfter);
  EXPECT_EQ(Choose({100, 100}), 1U);
  Step({100}, 10, SharingGains::kWindow - 1);
  EXPECT_EQ(Choose({100, 100}), 1U);
  Step({100}, 10, 1);
  EXPECT_EQ(Choose({100, 100}), 2U);
  // Not for ever: the steps that say something may never come.
  Step({300, 300}, 15, SharingGains::kFirstLookAfter);
  TellNothing({300}, SharingGains::kMostTried);
  EXPECT_EQ(Choose({300, 300}), 2U);
}

TEST_F(SharingGainsTest, TheCellUnusedForLongestIsForgotten) {
  Step({1}, 10);
  Step({1, 1}, 30);
  for (int rows = 2; rows < 2000; ++rows) {
    Step({rows}, 10, 1);
    if (rows == 100) PassOver({1, 1}, 1, 1);
  }
  EXPECT_EQ(gains_.size(), SharingGains::kMostCells);
  EXPECT_EQ(Choose({1, 1}), 2U);
  EXPECT_EQ(gains_.Apart(Of({1})), std::nullopt);
}

TEST_F(SharingGainsTest, ACellThatIsStillUsedIsNotForgotten) {
  Step({1}, 10);
  Step({1, 1}, 30);
  for (int rows = 2; rows < 2000; ++rows) {
    Step({rows}, 10, 1);
    PassOver({1, 1}, 1, 0);
  }
  EXPECT_EQ(Choose({1, 1}), 1U);
}

}  // namespace
}  // namespace reel::worker
