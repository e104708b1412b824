// SPDX-License-Identifier: Apache-2.0
// Events and what settles them, one by one, on the test's own thread.
#include "server/front/jobs/scheduler.h"

#include <gtest/gtest.h>

#include "tests/unit/server/front/jobs/scheduler_fixture.h"

namespace reel::front {
namespace {

using SchedulerTest = SchedulerFixture;

TEST_F(SchedulerTest, AnEventChangesStateAndSettlingActsOnIt) {
  AddReadyWorker();
  scheduler_->Settle();
  CreateOne();
  EXPECT_EQ(scheduler_->num_active(), 1u);
  EXPECT_EQ(pool.num_waiting(), 0);
  scheduler_->Settle();
  EXPECT_EQ(pool.num_waiting(), 1);
}

TEST_F(SchedulerTest, WhatCanRunRunsWhateverChangedLast) {
  scheduler_->Report({"w0", {}, ModelLoaded{"card", TestCard()}});  // known, but loaded nowhere
  scheduler_->Settle();
  CreateOne();
  scheduler_->Settle();
  EXPECT_EQ(pool.num_waiting(), 0);
  AddReadyWorker();
  scheduler_->Settle();
  EXPECT_EQ(pool.num_waiting(), 1);
}

TEST_F(SchedulerTest, SettlingTwiceIsSettlingOnce) {
  AddReadyWorker();
  for (int i = 0; i < 3; ++i) CreateOne();
  for (int i = 0; i < 3; ++i) scheduler_->Settle();
  EXPECT_EQ(pool.num_waiting(), 2);  // what a worker holds
  EXPECT_EQ(scheduler_->roster().Running("w0"), 2);
}

TEST_F(SchedulerTest, ADrainIsAnsweredWhenItsLastJobHasEnded) {
  AddReadyWorker();
  CreateOne();
  scheduler_->Settle();
  const Sent sent = Take();
  bool drained = false;
  scheduler_->StartDrain(absl::ZeroDuration(), absl::Seconds(30), [&] { drained = true; });
  scheduler_->Settle();
  EXPECT_FALSE(drained);
  scheduler_->Report(
      {"w0", sent.assignment.ref, JobFailed{absl::InvalidArgumentError("no"), true}});
  scheduler_->Settle();
  while (scheduler_->num_active() > 0 && !HasFatalFailure()) TakeAnswers();
  EXPECT_FALSE(drained);
  scheduler_->Settle();
  EXPECT_TRUE(drained);
}

}  // namespace
}  // namespace reel::front
