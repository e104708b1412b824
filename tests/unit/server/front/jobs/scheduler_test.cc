// SPDX-License-Identifier: Apache-2.0
// Events and what settles them, one by one, on the test's own thread.
#include "server/front/jobs/scheduler.h"

#include <gtest/gtest.h>

#include "server/front/store/inbox.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

class SchedulerTest : public ::testing::Test, public Harness {
 protected:
  void SetUp() override {
    OpenStores();
    scheduler_ = std::make_unique<Scheduler>(
        options, SchedulerParts{*store, *media, pool, observer, clock, serializer},
        [this](Scheduler::Task task) { inbox_.Put(std::move(task)); });
    ASSERT_TRUE(scheduler_->Recover().ok());
  }
  void TearDown() override {
    store.reset();  // what was called is answered into the inbox
    media.reset();
    scheduler_.reset();
  }
  // The next answers of the stores, without settling them.
  void TakeAnswers() {
    std::vector<Scheduler::Task> tasks;
    ASSERT_TRUE(inbox_.TakeAll(tasks, absl::Seconds(30)));
    for (Scheduler::Task& task : tasks) task();
  }
  void AddReadyWorker() {
    scheduler_->WorkerChanged(ReadyWorker("w0"));
    scheduler_->Report({"w0", {}, ModelLoaded{"card", TestCard()}});
  }
  // Queued when it returns.
  void CreateOne() {
    Caller caller;
    caller.request = Request();
    caller.done = [this](absl::StatusOr<JobPtr> job) { created_ += job.ok() ? 1 : 0; };
    scheduler_->Create(std::move(caller));
    const int before = created_;
    while (created_ == before && !HasFatalFailure()) TakeAnswers();
  }

  Inbox<Scheduler::Task> inbox_;
  std::unique_ptr<Scheduler> scheduler_;
  int created_ = 0;
};

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
  EXPECT_EQ(scheduler_->fleet().Running("w0"), 2);
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
