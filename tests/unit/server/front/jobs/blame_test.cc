// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/blame.h"

#include <gtest/gtest.h>

#include "server/errors/error.h"

namespace reel::front {
namespace {

constexpr WorkerLoss kAlone{LossCause::kExit, true, true};

TEST(Blame, AKillBlamesNobodySixTimes) {
  Losses losses;
  for (int kill = 1; kill <= 6; ++kill) {
    const Verdict verdict = JudgeLoss({LossCause::kKilled, true, true}, false, losses);
    EXPECT_EQ(verdict.again, kill <= 5) << kill;
    EXPECT_FALSE(verdict.alone);
    EXPECT_FALSE(verdict.quarantine);
    losses = verdict.losses;
  }
  EXPECT_EQ(losses.losses, 0);
}

TEST(Blame, ADeviceThatFailedOrHungUnderOneJobFailsIt) {
  for (LossCause cause : {LossCause::kSticky, LossCause::kHang}) {
    const Verdict verdict = JudgeLoss({cause, true, true}, false, {});
    EXPECT_FALSE(verdict.again);
    EXPECT_TRUE(verdict.quarantine);
    EXPECT_EQ(verdict.reason, Reason::kWorkerFault);
    // In company it may have been another one's doing.
    const Verdict shared = JudgeLoss({cause, true, false}, false, {});
    EXPECT_TRUE(shared.again);
    EXPECT_TRUE(shared.alone);
    EXPECT_FALSE(shared.quarantine);
  }
}

TEST(Blame, AWorkerThatExitedIsTriedOnceMore) {
  const Verdict first = JudgeLoss(kAlone, false, {});
  EXPECT_TRUE(first.again);
  EXPECT_TRUE(first.alone);
  EXPECT_TRUE(first.quarantine);
  const Verdict second = JudgeLoss(kAlone, true, first.losses);
  EXPECT_FALSE(second.again);
  EXPECT_EQ(second.reason, Reason::kWorkerLost);
}

TEST(Blame, WhatHadNotBegunRunsAgainAsItWas) {
  for (bool alone : {false, true}) {
    const Verdict verdict = JudgeLoss({LossCause::kSticky, false, true}, alone, {1, 0});
    EXPECT_TRUE(verdict.again);
    EXPECT_EQ(verdict.alone, alone);
    EXPECT_FALSE(verdict.quarantine);
    EXPECT_EQ(verdict.losses.losses, 1);
  }
}

TEST(Blame, AJobThatLostTheDeviceCountsAgainstItsShape) {
  JobFailed failed{MakeError(Reason::kWorkerFault, "the device failed"), true, true};
  EXPECT_TRUE(JudgeFailure(failed, false, {}).quarantine);
  failed.device_lost = false;
  EXPECT_FALSE(JudgeFailure(failed, false, {}).quarantine);
}

TEST(Blame, APassingFailureIsTriedAloneOnce) {
  const absl::Status error = MakeError(Reason::kOutOfDeviceMemory, "out of memory");
  const Verdict first = JudgeFailure({error, false}, false, {});
  EXPECT_TRUE(first.again);
  EXPECT_TRUE(first.alone);
  EXPECT_EQ(first.reason, Reason::kOutOfDeviceMemory);
  EXPECT_FALSE(JudgeFailure({error, false}, true, {}).again);
  EXPECT_FALSE(JudgeFailure({error, true}, false, {}).again);
  EXPECT_FALSE(JudgeFailure({error, false}, false, first.losses).again);
}

TEST(Blame, AnyOtherFailureIsTheLastAndKeepsItsReason) {
  const Verdict verdict =
      JudgeFailure({MakeError(Reason::kEncoderFault, "the encoder failed"), false}, false, {});
  EXPECT_FALSE(verdict.again);
  EXPECT_EQ(verdict.reason, Reason::kEncoderFault);
  EXPECT_EQ(verdict.message, "the encoder failed");
  EXPECT_EQ(verdict.losses.losses, 0);
}

}  // namespace
}  // namespace reel::front
