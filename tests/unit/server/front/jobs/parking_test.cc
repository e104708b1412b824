// SPDX-License-Identifier: Apache-2.0
// A running job makes way for one that would miss its deadline, and goes on after it.
#include <gtest/gtest.h>

#include <vector>

#include "server/errors/error.h"
#include "server/front/jobs/plan_runner.h"
#include "server/front/scheduling/preemption.h"
#include "tests/unit/server/front/jobs/parking_fixture.h"

namespace reel::front {
namespace {

TEST_F(ParkingTest, ARunningJobIsParkedForOneWithLessTimeAndResumedAfterIt) {
  const Sent running = StartLong(Request());
  MustCreate(Tight());
  const Sent tight = Take();
  EXPECT_EQ(tight.assignment.spec.prompt, "tight");
  EXPECT_TRUE(pool.parked(running));
  EXPECT_FALSE(pool.parked_to_host(running));
  Parked(running);
  const front::Progress shown = job_->Snapshot().progress;
  EXPECT_EQ(job_->Snapshot().state, VideoState::kRunning);
  EXPECT_EQ(shown.stage, model::Stage::kQueue);
  EXPECT_EQ(shown.queue_position, 1);
  EXPECT_EQ(shown.step, 5);
  EXPECT_GT(shown.remaining, absl::Seconds(14));  // five of its own, ten of the other
  EXPECT_EQ(observer.Get().preempted, 1);
  EXPECT_GT(pool.order_key(running), pool.order_key(tight));

  // Nor do its steps come between what the other decodes.
  Progress(tight, model::Stage::kDecode, 10);
  Settle();
  EXPECT_TRUE(pool.parked(running));
  Progress(tight, model::Stage::kEncode, 10);
  Settle();
  EXPECT_FALSE(pool.parked(running));
  EXPECT_EQ(job_->Snapshot().progress.stage, model::Stage::kDenoise);
  EXPECT_EQ(job_->Snapshot().progress.queue_position, 0);
  Media(tight, 0, "frames");
  Finish(tight, 6);
  RunToEnd(running);
  WaitForState(*job_, VideoState::kSucceeded);
  EXPECT_EQ(observer.Get().preempted, 1);
}

struct Begun {
  model::Stage stage;
  int step;
};

// Its worker has begun the next one meanwhile, which waits for its steps.
class BegunBehindTest : public ParkingTest, public ::testing::WithParamInterface<Begun> {};

TEST_P(BegunBehindTest, AVideoWithLittleTimePassesARunningOneAndThoseThatWaitForIt) {
  const Sent running = StartLong(Request());
  std::vector<Sent> behind;
  for (int i = 0; i < 2; ++i) MustCreate(Request());
  behind.push_back(Take());
  Progress(behind[0], GetParam().stage, GetParam().step);
  Settle();
  MustCreate(Tight());
  const Sent tight = Take();
  EXPECT_EQ(tight.assignment.spec.prompt, "tight");
  EXPECT_TRUE(pool.parked(running));
  EXPECT_TRUE(pool.parked(behind[0]));
  Parked(running);
  Parked(behind[0]);
  RunToEnd(tight);
  Settle();
  EXPECT_FALSE(pool.parked(running));
  EXPECT_FALSE(pool.parked(behind[0]));
  EXPECT_LT(pool.order_key(running), pool.order_key(behind[0]));  // as before
}

INSTANTIATE_TEST_SUITE_P(Stages, BegunBehindTest,
                         ::testing::Values(Begun{model::Stage::kTextEncode, 0},
                                           Begun{model::Stage::kDenoise, 0},
                                           Begun{model::Stage::kDenoise, 1}));

TEST_F(ParkingTest, NothingIsParkedForOneThatHasTime) {
  const Sent running = StartLong(Request());
  MustCreate(Tight(absl::Seconds(30)));
  Take();
  EXPECT_FALSE(pool.parked(running));
}

TEST_F(ParkingTest, ATenantThatHasHadLessDoesNotWaitForOneThatHasHadMore) {
  Use("t", 6);
  const Sent running = StartLong(Request());
  MustCreate(Of("u"));
  const Sent passing = Take();
  ASSERT_TRUE(pool.parked(running));
  Parked(running);
  // Nor does another of that one's tenant take the place.
  MustCreate(Of("t"));
  Settle();
  EXPECT_EQ(pool.num_waiting(), 0);
  RunToEnd(passing);
  Settle();
  EXPECT_FALSE(pool.parked(running));
  EXPECT_EQ(pool.num_waiting(), 1);
}

// Where small jobs share their steps.
class PackedParkingTest : public ParkingTest {
 protected:
  PackedParkingTest() { options.fill_rows = 100'000; }
};

TEST_F(PackedParkingTest, ATenantThatHasHadLessSharesNoStepsWithOneThatHasHadMore) {
  Use("t", 6);
  job_ = MustCreate(Request());
  const Sent running = Take();
  Progress(running, model::Stage::kDenoise, 1);  // in no time
  MustCreate(Of("u"));
  const Sent passing = Take();
  ASSERT_TRUE(pool.parked(running));
  Parked(running);
  RunToEnd(passing);
  Settle();
  EXPECT_FALSE(pool.parked(running));
}

TEST_F(PackedParkingTest, NorWithOneThatBeginsBesideIt) {
  Use("t", 6);
  MustCreate(Request());
  const Sent held = Take();
  MustCreate(Of("u"));
  const Sent passing = Take();
  Progress(passing, model::Stage::kDenoise, 1);
  Settle();
  ASSERT_FALSE(pool.parked(held));
  Progress(held, model::Stage::kDenoise, 1);
  Settle();
  ASSERT_TRUE(pool.parked(held));
  Parked(held);
  RunToEnd(passing);
  Settle();
  EXPECT_FALSE(pool.parked(held));
}

TEST_F(PackedParkingTest, TenantsThatHaveHadAsMuchShareTheirSteps) {
  Use("u", 6);
  const Sent one = StartLong(Request());
  MustCreate(Of("u"));
  const Sent other = Take();
  Progress(other, model::Stage::kDenoise, 1);
  Settle();
  EXPECT_FALSE(pool.parked(one));
  EXPECT_FALSE(pool.parked(other));
}

TEST_F(ParkingTest, ATenantThatHasHadAsMuchWaits) {
  Use("u", 6);
  const Sent running = StartLong(Request());
  MustCreate(Of("u"));
  Take();
  EXPECT_FALSE(pool.parked(running));
}

TEST_F(ParkingTest, NothingIsParkedThatHasNoTimeItself) {
  NewJob request = Request();
  request.timeout = absl::Seconds(15);
  const Sent running = StartLong(request);
  // Five steps of the one and ten of the other do not fit into its fourteen seconds.
  EXPECT_EQ(ReasonOf(Create(Tight()).status()), Reason::kDeadlineUnreachable);
  EXPECT_FALSE(pool.parked(running));
}

TEST_F(ParkingTest, WhatHasJustBegunRunsItsLeastFirst) {
  job_ = MustCreate(Request());
  const Sent running = Take();
  Progress(running, model::Stage::kDenoise, 0);
  Progress(running, model::Stage::kDenoise, 4);
  MustCreate(Tight());
  const Sent tight = Take();
  Settle();
  EXPECT_FALSE(pool.parked(running));
  Progress(running, model::Stage::kDenoise, 5);  // in no time
  Settle();
  EXPECT_FALSE(pool.parked(running));
  clock.Advance(kLeastTimeRun);
  Progress(running, model::Stage::kDenoise, 6);
  Settle();
  EXPECT_TRUE(pool.parked(running));
}

TEST_F(ParkingTest, PriorityOfTheSameTenantIsNotParkedForLess) {
  NewJob high = Request();
  high.priority = Priority::kHigh;
  const Sent running = StartLong(high);
  EXPECT_EQ(ReasonOf(Create(Tight()).status()), Reason::kDeadlineUnreachable);
  EXPECT_FALSE(pool.parked(running));
}

TEST_F(ParkingTest, AJobIsParkedThreeTimesAtMost) {
  NewJob request = Request();
  request.spec.num_inference_steps = 40;
  const Sent running = StartLong(request);
  for (int i = 0; i < kMostPreemptions; ++i) {
    MustCreate(Tight());
    const Sent tight = Take();
    ASSERT_TRUE(pool.parked(running)) << i;
    Parked(running);
    RunToEnd(tight);
    Settle();
    ASSERT_FALSE(pool.parked(running)) << i;
    clock.Advance(absl::Seconds(1));
    Progress(running, model::Stage::kDenoise, 5 + 5 * (i + 1));
    Settle();
  }
  EXPECT_EQ(observer.Get().preempted, kMostPreemptions);
  EXPECT_EQ(ReasonOf(Create(Tight()).status()), Reason::kDeadlineUnreachable);
}

TEST_F(ParkingTest, FindsRoomWhereTwoHaveBegun) {
  const Sent running = StartLong(Request());
  MustCreate(Request("decodes"));
  Progress(Take(), model::Stage::kDecode, 10);
  Settle();
  MustCreate(Tight(absl::Seconds(14)));
  EXPECT_EQ(Take().assignment.spec.prompt, "tight");
  EXPECT_TRUE(pool.parked(running));
}

TEST_F(ParkingTest, AParkedJobCanBeCancelled) {
  const Sent running = StartLong(Request());
  MustCreate(Tight());
  Take();
  Parked(running);
  ASSERT_TRUE(Cancel(job_->Snapshot().id).ok());
  EXPECT_EQ(pool.cancelled(), std::vector<std::string>{running.assignment.ref.job});
  WaitForState(*job_, VideoState::kCancelled);
  CancelledAtWorker(running);
  Settle();
  EXPECT_EQ(NumActive(), 1u);
}

TEST_F(ParkingTest, ItGoesOnAtOnceWhenTheOtherIsCancelled) {
  const Sent running = StartLong(Request());
  JobPtr other = MustCreate(Tight());
  Take();
  Parked(running);
  ASSERT_TRUE(Cancel(other->Snapshot().id).ok());
  Settle();
  EXPECT_FALSE(pool.parked(running));
}

TEST_F(ParkingTest, ADrainLeavesNobodyParked) {
  const Sent running = StartLong(Request());
  MustCreate(Tight());
  const Sent tight = Take();
  Parked(running);
  bool drained = false;
  dispatcher->Drain(absl::ZeroDuration(), absl::Seconds(30), [&] { drained = true; });
  Settle();
  RunToEnd(tight);
  Settle();
  EXPECT_FALSE(pool.parked(running));
  RunToEnd(running);
  WaitForState(*job_, VideoState::kSucceeded);
  Settle();
  EXPECT_TRUE(drained);
}

TEST_F(ParkingTest, AParkedJobIsNotToBlameForTheLossOfItsWorker) {
  const Sent running = StartLong(Request());
  JobPtr other = MustCreate(Tight());
  const Sent tight = Take();
  Parked(running);
  Progress(tight, model::Stage::kDenoise, 1);
  Settle();
  dispatcher->WorkerLost("w0", LossCause::kHang);
  // It ran alone.
  EXPECT_EQ(ReasonOf(WaitForState(*other, VideoState::kFailed).error), Reason::kWorkerFault);
  AddWorker();
  const Sent again = Take();
  EXPECT_EQ(again.assignment.ref.job, running.assignment.ref.job);
  EXPECT_EQ(again.assignment.ref.attempt, 2);
  EXPECT_FALSE(again.assignment.alone);
  EXPECT_FALSE(pool.parked(again) && observer.Get().preempted > 1);
  RunToEnd(again);
  EXPECT_EQ(WaitForState(*job_, VideoState::kSucceeded).attempt, 2);
}

TEST_F(ParkingTest, StatesLeaveADeviceWhoseMemoryIsShort) {
  WorkerInfo info = dispatcher->Workers()[0];
  info.memory = MemoryOf(100, 80, 80, 80);
  dispatcher->WorkerChanged(info);
  const Sent running = StartLong(Request());
  MustCreate(Tight());
  const Sent tight = Take();
  Report(running, JobParked{kParkedBytesOnDevice});
  Settle();
  EXPECT_FALSE(pool.parked_to_host(running));
  Report(running, JobParked{kParkedBytesOnDevice + 1});
  Settle();
  EXPECT_TRUE(pool.parked_to_host(running));
  Report(running, JobParked{0});
  Settle();
  EXPECT_EQ(observer.Get().preempted, 1);
  RunToEnd(tight);
  Settle();
  EXPECT_FALSE(pool.parked(running));
}

TEST_F(ParkingTest, StatesLeaveADeviceThatIsNearlyFull) {
  EXPECT_TRUE(ParkedLeaves(MemoryOf(100, 91, 90, 90)));
}

TEST_F(ParkingTest, WhatAnAllocatorOnlyKeepsMakesNoDeviceFull) {
  EXPECT_FALSE(ParkedLeaves(MemoryOf(100, 97, 96, 20)));
}

TEST_F(ParkingTest, WhatOthersHoldMakesADeviceFull) {
  EXPECT_TRUE(ParkedLeaves(MemoryOf(100, 97, 22, 20)));
}

TEST_F(ParkingTest, OneThatHadItsLastStepWhenItWasParkedGoesOn) {
  const Sent running = StartLong(Request());
  MustCreate(Tight());
  Take();
  ASSERT_TRUE(pool.parked(running));
  Progress(running, model::Stage::kDecode, 10);
  Settle();
  EXPECT_EQ(job_->Snapshot().progress.stage, model::Stage::kDecode);
  EXPECT_EQ(observer.Get().preempted, 0);
}

}  // namespace
}  // namespace reel::front
