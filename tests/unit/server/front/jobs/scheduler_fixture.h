// SPDX-License-Identifier: Apache-2.0
// A scheduler on the test's own thread: events and what settles them, one by one.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "server/front/jobs/scheduler.h"
#include "server/front/store/inbox.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {

class SchedulerFixture : public ::testing::Test, public Harness {
 protected:
  void SetUp() override {
    OpenStores();
    scheduler_ = std::make_unique<Scheduler>(
        options, DispatcherPorts{*store, *media, pool, observer, clock, serializer}, journal,
        /*listener=*/nullptr, /*comparer=*/nullptr,
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
  void CreateOne() { CreateOne(Request()); }
  void CreateOne(NewJob request) {
    scheduler_->Reserve(std::move(request), [this](absl::StatusOr<Video> reserved) {
      ASSERT_TRUE(reserved.ok()) << reserved.status();
      scheduler_->Adopt({*std::move(reserved)}, [](const absl::StatusOr<JobPtr>& job) {
        ASSERT_TRUE(job.ok()) << job.status();
      });
    });
  }

  Inbox<Scheduler::Task> inbox_;
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace reel::front
