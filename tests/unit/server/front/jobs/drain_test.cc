// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <vector>

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

TEST_F(DrainTest, RunningVideosFinishAndQueuedOnesStayForTheNextProcess) {
  std::vector<JobPtr> running = {MustCreate(Request()), MustCreate(Request())};
  const Sent sent[] = {Take(), Take()};
  JobPtr queued = MustCreate(Request());
  auto drained = Drain(absl::ZeroDuration(), absl::Seconds(30));
  for (const Sent& one : sent) RunToEnd(one);
  for (JobPtr& job : running) WaitForState(*job, VideoState::kSucceeded);
  EXPECT_EQ(drained->Take(), true);
  EXPECT_EQ(pool.num_waiting(), 0);  // nothing new was begun
  EXPECT_EQ(queued->Snapshot().state, VideoState::kQueued);
  Settle();
  Start();
  EXPECT_EQ(dispatcher->never_begun(), std::set<std::string>{queued->Snapshot().id});
}

TEST_F(DrainTest, AtTheLimitItLeavesWhatRunsToTheNextProcess) {
  JobPtr job = MustCreate(Request());
  Progress(Take(), model::Stage::kDenoise, 1);
  auto drained = Drain(absl::ZeroDuration(), absl::Seconds(30));
  AdvanceAndPoke(absl::Seconds(29));
  EXPECT_EQ(NumActive(), 1u);
  AdvanceAndPoke(absl::Seconds(1));
  EXPECT_EQ(drained->Take(), true);
  EXPECT_FALSE(IsFinal(job->state()));
  Settle();
  Start();
  EXPECT_TRUE(dispatcher->never_begun().empty());
}

TEST_F(DrainTest, AskedTwiceItMeansNow) {
  MustCreate(Request());
  Take();
  auto first = Drain(absl::Seconds(5), absl::Seconds(30));
  auto second = Drain(absl::ZeroDuration(), absl::ZeroDuration());
  EXPECT_EQ(first->Take(), true);
  EXPECT_EQ(second->Take(), true);
}

TEST_F(DrainTest, AVideoThatLosesItsWorkerMeanwhileIsForTheNextProcess) {
  JobPtr job = MustCreate(Request());
  Progress(Take(), model::Stage::kDenoise, 1);
  auto drained = Drain(absl::ZeroDuration(), absl::Seconds(30));
  dispatcher->WorkerLost("w0", LossCause::kKilled);
  EXPECT_EQ(drained->Take(), true);
  EXPECT_FALSE(IsFinal(job->state()));
}

TEST_F(DrainTest, WaitsForWhatWasReservedBeforeIt) {
  const auto reserved =
      Await<Video>([&](auto done) { dispatcher->Reserve(Request(), std::move(done)); });
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  std::atomic<bool> drained = false;
  dispatcher->Drain(absl::ZeroDuration(), absl::Seconds(30), [&] { drained = true; });
  dispatcher->Flush();
  EXPECT_FALSE(drained);
  ASSERT_TRUE(Adopt({*reserved}).ok());
  dispatcher->Flush();
  EXPECT_TRUE(drained);
  EXPECT_EQ(pool.num_waiting(), 0);
}

}  // namespace
}  // namespace reel::front
