// SPDX-License-Identifier: Apache-2.0
// Lost workers: who runs again, who is to blame.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "server/errors/error.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

class RecoveryTest : public ::testing::Test, public Harness {
 protected:
  void SetUp() override {
    Start();
    AddWorker();
  }
  // Lost, and back again.
  void Lose(LossCause cause) {
    dispatcher->WorkerLost("w0", cause);
    Settle();
    AddWorker();
  }
  Sent TakeRunning() {
    Sent sent = Take();
    Progress(sent, model::Stage::kDenoise, 3);
    Settle();
    return sent;
  }
};

TEST_F(RecoveryTest, ADeviceThatIsGoneIsNoJobsFault) {
  JobPtr job = MustCreate(Request());
  TakeRunning();  // alone
  Lose(LossCause::kDevice);
  const Sent again = Take();
  EXPECT_EQ(again.assignment.ref.attempt, 2);
  EXPECT_FALSE(again.assignment.alone);
  RunToEnd(again);
  WaitForState(*job, VideoState::kSucceeded);
}

TEST_F(RecoveryTest, AKilledWorkersJobRunsAgainAndItsWatchersSeeIt) {
  JobPtr job = MustCreate(Request());
  Sent sent = TakeRunning();
  Media(sent, 0, "old bytes");
  Settle();
  const double fraction = job->Snapshot().progress.fraction;
  EXPECT_GT(fraction, 0);
  Lose(LossCause::kKilled);
  const auto restarted = FindEntry<RestartedEvent>(*job);
  ASSERT_TRUE(restarted.has_value());
  EXPECT_EQ(std::get<RestartedEvent>(restarted->event).reason, "WORKER_LOST");
  EXPECT_EQ(std::get<RestartedEvent>(restarted->event).attempt, 2);
  EXPECT_EQ(job->attempt(), 2);
  EXPECT_EQ(job->media_size(), 0);
  EXPECT_GE(job->Snapshot().progress.fraction, fraction);

  const Sent again = Take();
  EXPECT_EQ(again.assignment.ref.attempt, 2);
  EXPECT_FALSE(again.assignment.alone);
  // Reports of the first attempt are of no interest any more.
  Media(sent, 9, "late");
  Finish(sent, 13);
  RunToEnd(again, "new");
  const Video video = WaitForState(*job, VideoState::kSucceeded);
  EXPECT_EQ(video.attempt, 2);
  EXPECT_EQ(video.stats->restarts, 1);
  EXPECT_EQ(ReadAll(*job), "new");
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/media/" + video.id + ".1.mp4"));
  EXPECT_EQ(observer.Get().restarted, 1);
}

TEST_F(RecoveryTest, AStoredVideoStillTellsOfItsRestart) {
  JobPtr job = MustCreate(Request());
  const std::string id = job->Snapshot().id;
  TakeRunning();
  Lose(LossCause::kKilled);
  RunToEnd(Take());
  WaitForState(*job, VideoState::kSucceeded);
  Start();
  JobPtr stored = *Find(id);
  EXPECT_EQ(FindEntry<RestartedEvent>(*stored)->sequence,
            FindEntry<RestartedEvent>(*job)->sequence);
}

TEST_F(RecoveryTest, SurvivesFiveKillsAndNotSix) {
  JobPtr job = MustCreate(Request());
  for (int kill = 0; kill < 5; ++kill) {
    TakeRunning();
    Lose(LossCause::kKilled);
    EXPECT_FALSE(IsFinal(job->Snapshot().state)) << kill;
  }
  TakeRunning();
  Lose(LossCause::kKilled);
  EXPECT_EQ(ReasonOf(WaitForState(*job, VideoState::kFailed).error), Reason::kWorkerLost);
  EXPECT_TRUE(Create(Request()).ok());  // kills quarantine nothing
}

TEST_F(RecoveryTest, AJobThatRanAloneIsToBlameForAStickyErrorOrAHang) {
  for (LossCause cause : {LossCause::kSticky, LossCause::kHang}) {
    NewJob request = Request();
    request.spec.width = cause == LossCause::kHang ? 128 : 64;
    JobPtr job = MustCreate(request);
    TakeRunning();
    Lose(cause);
    EXPECT_EQ(ReasonOf(WaitForState(*job, VideoState::kFailed).error), Reason::kWorkerFault);
  }
  EXPECT_EQ(observer.Get().restarted, 0);
  EXPECT_TRUE(pool.cancelled().empty());  // nobody is there who could stop
}

TEST_F(RecoveryTest, JobsThatRanTogetherRunAgainAloneOneAfterTheOther) {
  JobPtr a = MustCreate(Request("a")), b = MustCreate(Request("b"));
  TakeRunning();
  TakeRunning();
  Lose(LossCause::kSticky);
  const Sent first = Take();
  EXPECT_TRUE(first.assignment.alone);
  Progress(first, model::Stage::kDenoise, 1);
  Settle();
  EXPECT_EQ(pool.num_waiting(), 0);  // the other one waits, and so does a third
  JobPtr c = MustCreate(Request("c"));
  Settle();
  EXPECT_EQ(pool.num_waiting(), 0);
  // Alone, the poisoner shows itself.
  Lose(LossCause::kSticky);
  const Sent second = Take();
  RunToEnd(second);
  JobPtr& poisoner = first.assignment.ref.job == a->Snapshot().id ? a : b;
  JobPtr& other = first.assignment.ref.job == a->Snapshot().id ? b : a;
  EXPECT_EQ(ReasonOf(WaitForState(*poisoner, VideoState::kFailed).error), Reason::kWorkerFault);
  if (second.assignment.ref.job != other->Snapshot().id) RunToEnd(Take());
  WaitForState(*other, VideoState::kSucceeded);
}

TEST_F(RecoveryTest, WhatTheWorkerHadNotBegunIsInnocent) {
  JobPtr began = MustCreate(Request("began"));
  TakeRunning();
  JobPtr waits = MustCreate(Request("waits"));
  Take();
  Lose(LossCause::kHang);
  EXPECT_EQ(ReasonOf(WaitForState(*began, VideoState::kFailed).error), Reason::kWorkerFault);
  const Sent again = Take();
  EXPECT_EQ(again.assignment.ref.job, waits->Snapshot().id);
  EXPECT_FALSE(again.assignment.alone);
}

TEST_F(RecoveryTest, AWorkerThatLostItsDeviceGetsNoFurtherJob) {
  JobPtr poison = MustCreate(Request("poison"));
  const Sent poisoned = TakeRunning();
  JobPtr waits = MustCreate(Request("waits"));
  const Sent held = Take();
  JobPtr queued = MustCreate(Request("queued"));
  LosesDevice(poisoned);
  WaitForState(*poison, VideoState::kFailed);
  Settle();
  EXPECT_EQ(pool.num_waiting(), 0);  // there is room, but on a dying worker
  Lose(LossCause::kSticky);
  for (int i = 0; i < 2; ++i) RunToEnd(Take());
  EXPECT_EQ(WaitForState(*waits, VideoState::kSucceeded).stats->restarts, 1);
  EXPECT_EQ(WaitForState(*queued, VideoState::kSucceeded).stats->restarts, 0);
  EXPECT_TRUE(Create(Request()).ok());  // one loss quarantines nothing
}

TEST_F(RecoveryTest, WhatRanBesideTheJobThatLostTheDeviceIsInnocent) {
  JobPtr poison = MustCreate(Request("poison"));
  const Sent poisoned = TakeRunning();
  JobPtr beside = MustCreate(Request("beside"));
  TakeRunning();
  LosesDevice(poisoned);
  Lose(LossCause::kSticky);
  const Sent again = Take();
  EXPECT_EQ(again.assignment.ref.job, beside->Snapshot().id);
  EXPECT_FALSE(again.assignment.alone);
  RunToEnd(again);
  WaitForState(*beside, VideoState::kSucceeded);
  EXPECT_EQ(ReasonOf(WaitForState(*poison, VideoState::kFailed).error), Reason::kWorkerFault);
  EXPECT_TRUE(Create(Request()).ok());
}

TEST_F(RecoveryTest, AJobThatALostDeviceNeverBeganIsInnocent) {
  JobPtr job = MustCreate(Request());
  for (int loss = 0; loss < 3; ++loss) {
    Take();  // and nothing is heard of it
    Lose(LossCause::kSticky);
  }
  RunToEnd(Take());
  WaitForState(*job, VideoState::kSucceeded);
  EXPECT_TRUE(Create(Request()).ok());
}

TEST_F(RecoveryTest, AShapeThatLostTwoDevicesIsQuarantined) {
  for (int loss = 0; loss < 2; ++loss) {
    JobPtr poison = MustCreate(Request("poison"));
    LosesDevice(TakeRunning());
    WaitForState(*poison, VideoState::kFailed);
    Lose(LossCause::kSticky);
  }
  EXPECT_EQ(ReasonOf(Create(Request()).status()), Reason::kShapeQuarantined);
}

TEST_F(RecoveryTest, ASecondLossIsTheLast) {
  JobPtr job = MustCreate(Request());
  TakeRunning();
  Lose(LossCause::kExit);
  EXPECT_EQ(job->Snapshot().state, VideoState::kQueued);
  TakeRunning();
  Lose(LossCause::kExit);
  EXPECT_EQ(ReasonOf(WaitForState(*job, VideoState::kFailed).error), Reason::kWorkerLost);
}

TEST_F(RecoveryTest, AShapeThatCostTwoWorkersIsQuarantinedForAWhile) {
  for (int loss = 0; loss < 2; ++loss) {
    MustCreate(Request());
    TakeRunning();
    Lose(LossCause::kSticky);
  }
  EXPECT_EQ(ReasonOf(Create(Request()).status()), Reason::kShapeQuarantined);
  clock.Advance(Quarantine::kWindow);
  EXPECT_TRUE(Create(Request()).ok());
}

TEST_F(RecoveryTest, ASuspectFailsWithItsReasonAndName) {
  JobPtr job = MustCreate(Request());
  Failed(TakeRunning(), MakeError(Reason::kNumericalFault, "NaN at step 3"), true);
  const Video video = WaitForState(*job, VideoState::kFailed);
  EXPECT_EQ(ReasonOf(video.error), Reason::kNumericalFault);
  EXPECT_THAT(SerializeError(video.error), ::testing::HasSubstr("videos/" + video.id));
  EXPECT_TRUE(pool.cancelled().empty());  // the worker has let go of it already
  EXPECT_EQ(dispatcher->Running("w0"), 0);
}

TEST_F(RecoveryTest, OutOfMemoryTogetherIsTriedAloneOnce) {
  JobPtr job = MustCreate(Request());
  Failed(TakeRunning(), MakeError(Reason::kOutOfDeviceMemory, "out of memory"));
  const Sent alone = Take();
  EXPECT_TRUE(alone.assignment.alone);
  EXPECT_EQ(std::get<RestartedEvent>(FindEntry<RestartedEvent>(*job)->event).reason,
            "OUT_OF_DEVICE_MEMORY");
  Failed(alone, MakeError(Reason::kOutOfDeviceMemory, "out of memory"));
  EXPECT_EQ(ReasonOf(WaitForState(*job, VideoState::kFailed).error), Reason::kOutOfDeviceMemory);
}

TEST_F(RecoveryTest, AnEncoderFaultIsNotTriedAgain) {
  JobPtr job = MustCreate(Request());
  Failed(TakeRunning(), MakeError(Reason::kEncoderFault, "the encoder failed"));
  EXPECT_EQ(ReasonOf(WaitForState(*job, VideoState::kFailed).error), Reason::kEncoderFault);
}

TEST_F(RecoveryTest, ACancelDuringARestartEndsTheJob) {
  JobPtr job = MustCreate(Request());
  TakeRunning();
  dispatcher->WorkerLost("w0", LossCause::kKilled);
  ASSERT_TRUE(Cancel(job->Snapshot().id).ok());
  WaitForState(*job, VideoState::kCancelled);
  AddWorker();
  Settle();
  EXPECT_EQ(pool.num_waiting(), 0);
}

TEST_F(RecoveryTest, AnotherWorkerTakesOver) {
  AddWorker("w1");
  JobPtr job = MustCreate(Request());
  const Sent sent = TakeRunning();
  dispatcher->WorkerLost(sent.worker, LossCause::kHeartbeat);
  const Sent again = Take();
  EXPECT_NE(again.worker, sent.worker);
  RunToEnd(again);
  WaitForState(*job, VideoState::kSucceeded);
}

}  // namespace
}  // namespace reel::front
