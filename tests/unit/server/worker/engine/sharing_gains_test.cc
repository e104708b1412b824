// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/sharing_gains.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace reel::worker {
namespace {

using Advice = SharingGains::Advice;

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
  void TellNothing(const Rows& rows) {
    gains_.Stepped(Of(rows), absl::Milliseconds(1), /*tells=*/false);
  }
  void KeepApart(const Rows& rows, int milliseconds) {
    gains_.KeptApart(Of(rows), absl::Milliseconds(milliseconds));
  }
  Advice Judge(const Rows& rows) const { return gains_.Judge(Of(rows)); }

  SharingGains gains_;
};

TEST_F(SharingGainsTest, SharesWhileNothingIsKnown) {
  EXPECT_EQ(Judge({100, 100}), Advice::kShare);
  // Of those who were never alone nobody knows what they gain.
  Step({100, 100}, 50, 20);
  EXPECT_EQ(Judge({100, 100}), Advice::kShare);
  // Nor of those who did not share yet.
  Step({100}, 1);
  EXPECT_EQ(Judge({100, 100}), Advice::kShare);
  Step({100, 100}, 50, 4);
  EXPECT_EQ(Judge({100, 100}), Advice::kShare);
}

TEST_F(SharingGainsTest, StopsWhereItLoses) {
  Step({100}, 10);
  Step({100, 100}, 21);
  EXPECT_EQ(Judge({100, 100}), Advice::kLose);
  EXPECT_EQ(gains_.Apart(Of({100, 100})), absl::Milliseconds(20));
  EXPECT_EQ(Judge({100}), Advice::kShare);
}

TEST_F(SharingGainsTest, GoesOnWhereItGains) {
  Step({100}, 38);
  Step(Rows(8, 100), 8 * 29, 200);
  EXPECT_EQ(Judge(Rows(8, 100)), Advice::kShare);
}

TEST_F(SharingGainsTest, AGainOfLessThanATwentiethIsNone) {
  Step({1000}, 1000);
  Step({1000, 1000}, 1910);
  EXPECT_EQ(Judge({1000, 1000}), Advice::kLose);
  Step({500}, 1000);
  Step({500, 500}, 1900);
  EXPECT_EQ(Judge({500, 500}), Advice::kShare);
}

TEST_F(SharingGainsTest, OutliersDoNotCount) {
  Step({100}, 10, 4);
  Step({100}, 500, 2);  // a graph is recorded, and the machine is busy
  EXPECT_EQ(gains_.Apart(Of({100})), absl::Milliseconds(10));
  Step({100, 100}, 900, 2);
  Step({100, 100}, 15, 3);
  EXPECT_EQ(Judge({100, 100}), Advice::kShare);
}

TEST_F(SharingGainsTest, AStepThatTellsNothingIsNotLearnedFrom) {
  Step({100}, 10);
  for (int i = 0; i < 20; ++i) {
    gains_.Stepped(Of({100}), absl::Seconds(1), /*tells=*/false);
    gains_.Stepped(Of({100, 100}), absl::Seconds(1), /*tells=*/false);
  }
  EXPECT_EQ(gains_.Apart(Of({100})), absl::Milliseconds(10));
  EXPECT_EQ(Judge({100, 100}), Advice::kShare);
}

TEST_F(SharingGainsTest, WhatWasNotSeenTogetherIsTakenForWhatIsMostLikeIt) {
  Step({100}, 10);
  Step({1000}, 100);
  Step({100, 1000}, 150);
  EXPECT_EQ(Judge({104, 980}), Advice::kLose);
  EXPECT_EQ(Judge({1000, 100}), Advice::kLose);
  // As many rows of equal jobs, of more jobs, or half as many are something else.
  EXPECT_EQ(Judge({550, 550}), Advice::kShare);
  EXPECT_EQ(Judge({50, 50, 1000}), Advice::kShare);
  EXPECT_EQ(Judge({50, 500}), Advice::kShare);
}

TEST_F(SharingGainsTest, ModelsAndPlansAreApart) {
  Step({100}, 10);
  Step({100, 100}, 30);
  EXPECT_EQ(gains_.Judge({"m", "fp8", Rows{100, 100}}), Advice::kShare);
  EXPECT_EQ(gains_.Judge({"n", "auto", Rows{100, 100}}), Advice::kShare);
  gains_.Forget("n");
  EXPECT_EQ(Judge({100, 100}), Advice::kLose);
  gains_.Forget("m");
  EXPECT_EQ(Judge({100, 100}), Advice::kShare);
  EXPECT_EQ(gains_.size(), 0U);
}

TEST_F(SharingGainsTest, TriesAgainAfterThreeHundredTimesWhatItTakes) {
  Step({100}, 10);
  Step({100, 100}, 30);
  KeepApart({100, 100}, 8999);
  EXPECT_EQ(Judge({100, 100}), Advice::kLose);
  KeepApart({100, 100}, 1);
  EXPECT_EQ(Judge({100, 100}), Advice::kShare);
  Step({100, 100}, 30, 1);
  EXPECT_EQ(Judge({100, 100}), Advice::kLose);
  KeepApart({100, 100}, 8999);
  EXPECT_EQ(Judge({100, 100}), Advice::kLose);
}

TEST_F(SharingGainsTest, ATryEndsWithAStepThatTellsOrAfterFive) {
  Step({100}, 10);
  Step({100, 100}, 30);
  KeepApart({100, 100}, 9000);
  for (int i = 0; i < 2; ++i) TellNothing({100, 100});
  EXPECT_EQ(Judge({100, 100}), Advice::kShare);
  Step({100, 100}, 30, 1);
  EXPECT_EQ(Judge({100, 100}), Advice::kLose);
  KeepApart({100, 100}, 9000);
  for (int i = 0; i < 4; ++i) TellNothing({100, 100});
  EXPECT_EQ(Judge({100, 100}), Advice::kShare);
  TellNothing({100, 100});
  EXPECT_EQ(Judge({100, 100}), Advice::kLose);
}

TEST_F(SharingGainsTest, ATryThatPaysStartsAnew) {
  Step({100}, 10);
  Step({100, 100}, 30);
  KeepApart({100, 100}, 9000);
  Step({100, 100}, 12, 1);
  EXPECT_EQ(Judge({100, 100}), Advice::kShare);
  Step({100, 100}, 12, 4);
  EXPECT_EQ(Judge({100, 100}), Advice::kShare);
}

TEST_F(SharingGainsTest, AJobThatMustEndSoonIsNoTrial) {
  Step({100}, 10);
  Step({100, 100}, 30);
  KeepApart({100, 100}, 9000);
  const Rows two = {100, 100};
  EXPECT_EQ(gains_.Judge(Of(two, absl::Milliseconds(8999))), Advice::kLose);
  EXPECT_EQ(gains_.Judge(Of(two, absl::Milliseconds(9000))), Advice::kShare);
}

TEST_F(SharingGainsTest, NowAndThenALeadIsSteppedAloneToSeeWhatThatTakes) {
  Step({100, 100}, 15, SharingGains::kLookAfter - 1);
  EXPECT_EQ(Judge({100, 100}), Advice::kShare);
  Step({100, 100}, 15, 1);
  EXPECT_EQ(Judge({100, 100}), Advice::kLeadAlone);
  EXPECT_EQ(Judge({100, 200}), Advice::kLeadAlone);  // whoever it leads
  EXPECT_EQ(Judge({200, 100}), Advice::kShare);
  const Rows two = {100, 100};
  EXPECT_EQ(gains_.Judge(Of(two, absl::Seconds(1))), Advice::kShare);
  for (int i = 0; i < 2; ++i) TellNothing({100});
  EXPECT_EQ(Judge({100, 100}), Advice::kLeadAlone);
  Step({100}, 10, 1);
  EXPECT_EQ(Judge({100, 100}), Advice::kShare);
}

TEST_F(SharingGainsTest, WhatWasNotSteppedForLongestIsForgotten) {
  Step({1}, 10);
  Step({1, 1}, 30);
  for (int rows = 2; rows < 2000; ++rows) {
    Step({rows}, 10, 1);
    if (rows == 100) KeepApart({1, 1}, 1);
  }
  EXPECT_EQ(gains_.size(), SharingGains::kMostCells);
  EXPECT_EQ(Judge({1, 1}), Advice::kShare);
  EXPECT_EQ(gains_.Apart(Of({1})), std::nullopt);
}

TEST_F(SharingGainsTest, WhatIsStillUsedIsNotForgotten) {
  Step({1}, 10);
  Step({1, 1}, 30);
  for (int rows = 2; rows < 2000; ++rows) {
    Step({rows}, 10, 1);
    KeepApart({1, 1}, 1);
  }
  EXPECT_EQ(Judge({1, 1}), Advice::kLose);
}

}  // namespace
}  // namespace reel::worker
