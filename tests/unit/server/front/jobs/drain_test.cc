// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

class DrainTest : public ::testing::Test, public Harness {
 protected:
  void SetUp() override {
    Start();
    AddWorker();
  }
  JobPtr MustCreateBound() {
    NewJob request = Request();
    request.bound = true;
    return MustCreate(request);
  }
  std::shared_ptr<reel::testing::Promised<bool>> Drain(absl::Duration propagation,
                                                       absl::Duration limit) {
    auto drained = std::make_shared<reel::testing::Promised<bool>>();
    dispatcher->Drain(propagation, limit, [drained] { drained->Give(true); });
    dispatcher->Flush();
    return drained;
  }
};

TEST_F(DrainTest, AnIdleServerIsDrainedAtOnce) {
  EXPECT_EQ(Drain(absl::ZeroDuration(), absl::Seconds(30))->Take(), true);
  EXPECT_FALSE(dispatcher->admitting());
  EXPECT_TRUE(dispatcher->draining());
  EXPECT_EQ(ReasonOf(Create(Request()).status()), Reason::kServerDraining);
}

TEST_F(DrainTest, AdmitsWhileTheWordSpreads) {
  auto drained = Drain(absl::Seconds(5), absl::Seconds(30));
  EXPECT_FALSE(dispatcher->admitting());
  JobPtr job = MustCreate(Request());
  RunToEnd(Take());
  WaitForState(*job, VideoState::kSucceeded);
  AdvanceAndPoke(absl::Seconds(5));
  EXPECT_EQ(ReasonOf(Create(Request()).status()), Reason::kServerDraining);
  EXPECT_EQ(drained->Take(), true);
}

TEST_F(DrainTest, RunningVideosFinishAndQueuedOnesEndOrStay) {
  JobPtr running = MustCreateBound(), second = MustCreate(Request());
  const Sent first_sent = Take(), second_sent = Take();
  JobPtr queued_bound = MustCreateBound(), queued_detached = MustCreate(Request());
  const std::string kept = queued_detached->Snapshot().id;
  auto drained = Drain(absl::ZeroDuration(), absl::Seconds(30));
  const Video ended = WaitForState(*queued_bound, VideoState::kCancelled);
  EXPECT_EQ(ReasonOf(ended.error), Reason::kServerDraining);
  EXPECT_EQ(ended.error.code(), absl::StatusCode::kUnavailable);
  RunToEnd(first_sent);
  RunToEnd(second_sent);
  WaitForState(*running, VideoState::kSucceeded);
  WaitForState(*second, VideoState::kSucceeded);
  EXPECT_EQ(drained->Take(), true);
  EXPECT_EQ(pool.num_waiting(), 0);  // nothing new was begun
  EXPECT_EQ(queued_detached->Snapshot().state, VideoState::kQueued);
  Start();
  AddWorker();
  EXPECT_EQ(Take().assignment.ref.job, kept);
}

TEST_F(DrainTest, AtTheLimitBoundVideosEndAndDetachedOnesStartAgainLater) {
  JobPtr bound = MustCreateBound(), detached = MustCreate(Request());
  const std::string kept = detached->Snapshot().id;
  for (int i = 0; i < 2; ++i) Progress(Take(), model::Stage::kDenoise, 1);
  auto drained = Drain(absl::ZeroDuration(), absl::Seconds(30));
  AdvanceAndPoke(absl::Seconds(30));
  EXPECT_EQ(drained->Take(), true);
  EXPECT_EQ(ReasonOf(WaitForState(*bound, VideoState::kCancelled).error), Reason::kServerDraining);
  Start();
  AddWorker();
  const Sent again = Take();
  EXPECT_EQ(again.assignment.ref.job, kept);
  EXPECT_EQ(again.assignment.ref.attempt, 2);
}

TEST_F(DrainTest, AskedTwiceItMeansNow) {
  MustCreateBound();
  Take();
  auto first = Drain(absl::Seconds(5), absl::Seconds(30));
  auto second = Drain(absl::ZeroDuration(), absl::ZeroDuration());
  EXPECT_EQ(first->Take(), true);
  EXPECT_EQ(second->Take(), true);
}

TEST_F(DrainTest, ABoundVideoThatLosesItsWorkerMeanwhileEnds) {
  JobPtr job = MustCreateBound();
  Progress(Take(), model::Stage::kDenoise, 1);
  auto drained = Drain(absl::ZeroDuration(), absl::Seconds(30));
  dispatcher->WorkerLost("w0", LossCause::kKilled);
  EXPECT_EQ(ReasonOf(WaitForState(*job, VideoState::kCancelled).error), Reason::kServerDraining);
  EXPECT_EQ(drained->Take(), true);
}

TEST_F(DrainTest, WhatIsBeingCreatedMeanwhileIsAnsweredAndCounted) {
  auto created = std::make_shared<reel::testing::Promised<absl::StatusOr<JobPtr>>>();
  NewJob request = Request();
  request.bound = true;
  dispatcher->Create(request, [created](auto job) { created->Give(std::move(job)); });
  auto drained = Drain(absl::ZeroDuration(), absl::Seconds(30));
  auto job = *created->Take();
  ASSERT_TRUE(job.ok()) << job.status();
  AdvanceAndPoke(absl::Seconds(30));
  WaitForState(**job, VideoState::kCancelled);
  EXPECT_EQ(drained->Take(), true);
}

}  // namespace
}  // namespace reel::front
