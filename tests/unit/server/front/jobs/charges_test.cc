// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "server/front/jobs/job_records.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

// Tenant "t" may use ten device seconds an hour; a step takes two.
class ChargesTest : public ::testing::Test, public Harness {
 protected:
  void SetUp() override {
    options.tenants["t"].device_seconds_per_hour = 10;
    Start();
    AddWorker();
    LearnSteps(absl::Seconds(2));
  }
  absl::Status Admitted() { return Create(Request()).status(); }
};

TEST_F(ChargesTest, ACancelledVideoCostsTheStepsThatItTook) {
  JobPtr job = MustCreate(Request());
  const Sent sent = Take();
  Progress(sent, model::Stage::kDenoise, 6);
  Settle();
  EXPECT_TRUE(Admitted().ok());
  ASSERT_TRUE(Cancel(job->Snapshot().id).ok());
  const Video video = WaitForState(*job, VideoState::kCancelled);
  ASSERT_TRUE(video.stats.has_value());
  EXPECT_NEAR(video.stats->device_seconds, 12, 1);
  EXPECT_EQ(ReasonOf(Admitted()), Reason::kTenantQuota);
  AdvanceAndPoke(absl::Minutes(61));
  EXPECT_TRUE(Admitted().ok());
}

TEST_F(ChargesTest, AFailedVideoCostsTheStepsThatItTook) {
  JobPtr job = MustCreate(Request());
  const Sent sent = Take();
  Progress(sent, model::Stage::kDenoise, 6);
  Failed(sent, MakeError(Reason::kNumericalFault, "NaN"), true);
  const Video video = WaitForState(*job, VideoState::kFailed);
  ASSERT_TRUE(video.stats.has_value());
  EXPECT_NEAR(video.stats->device_seconds, 12, 1);
  EXPECT_EQ(ReasonOf(Admitted()), Reason::kTenantQuota);
}

TEST_F(ChargesTest, WhatATenantHasWaitingIsBounded) {
  options.tenants["t"].device_seconds_per_hour = 0;
  options.tenants["t"].max_queued_device_seconds = 50;  // a job is some 20
  Start();
  AddWorker();
  JobPtr first = MustCreate(Request());
  MustCreate(Request());
  EXPECT_EQ(ReasonOf(Admitted()), Reason::kTenantQuota);
  NewJob of_another = Request();
  of_another.tenant = "u";
  EXPECT_TRUE(Create(of_another).ok());
  // What is left of a running one counts, not all of it.
  Progress(Take(), model::Stage::kDenoise, 8);
  Settle();
  EXPECT_TRUE(Admitted().ok());
}

TEST_F(ChargesTest, WhatNeverRanCostsNothing) {
  for (int i = 0; i < 3; ++i) {
    JobPtr job = MustCreate(Request());
    const Sent sent = Take();
    ASSERT_TRUE(Cancel(job->Snapshot().id).ok());
    CancelledAtWorker(sent);
    EXPECT_EQ(WaitForState(*job, VideoState::kCancelled).stats->device_seconds, 0);
  }
  EXPECT_TRUE(Admitted().ok());
}

// A group of two, where a step takes two seconds.
class GroupChargesTest : public ChargesTest {
 protected:
  void SetUp() override {
    options.tenants["t"].device_seconds_per_hour = 30;
    StartGroup();
  }
  void StartGroup() {
    Start();
    WorkerInfo group = ReadyWorker("w0");
    group.device = "cuda:0+cuda:1 2 x H";
    dispatcher->WorkerChanged(group);
    Load("w0", TestCard());
    dispatcher->Flush();
    LearnSteps(absl::Seconds(2));
  }
};

TEST_F(GroupChargesTest, ACancelledVideoCostsTheTimeOfEachDevice) {
  JobPtr job = MustCreate(Request());
  const Sent sent = Take();
  Progress(sent, model::Stage::kDenoise, 8);
  Settle();
  EXPECT_TRUE(Admitted().ok());
  ASSERT_TRUE(Cancel(job->Snapshot().id).ok());
  EXPECT_NEAR(WaitForState(*job, VideoState::kCancelled).stats->device_seconds, 32, 1);
  EXPECT_EQ(ReasonOf(Admitted()), Reason::kTenantQuota);
}

TEST_F(GroupChargesTest, ASuccessIsBilledTheTimeOfEachDevice) {
  JobPtr job = MustCreate(Request());
  const Sent sent = Take();
  Media(sent, 0, "frames");
  JobFinished finished;
  finished.media.size_bytes = 6;
  finished.stats.denoise = absl::Seconds(16);
  finished.stats.device_seconds = 16;
  Report(sent, finished);
  EXPECT_DOUBLE_EQ(WaitForEnd(*job).stats->device_seconds, 32);
  EXPECT_EQ(ReasonOf(Admitted()), Reason::kTenantQuota);
}

TEST_F(GroupChargesTest, WhatWaitsAndAQuoteCountEachDevice) {
  options.tenants["t"].max_queued_device_seconds = 100;  // a job is some 40
  StartGroup();
  const auto estimate =
      Await<CostEstimate>([&](auto done) { dispatcher->Estimate(Request(), std::move(done)); });
  EXPECT_NEAR(estimate->device_seconds, 40, 1);
  MustCreate(Request());
  MustCreate(Request());
  EXPECT_EQ(ReasonOf(Admitted()), Reason::kTenantQuota);
}

TEST_F(ChargesTest, ARestartForgivesNothing) {
  JobPtr job = MustCreate(Request());
  Progress(Take(), model::Stage::kDenoise, 6);
  Settle();
  ASSERT_TRUE(Cancel(job->Snapshot().id).ok());
  WaitForState(*job, VideoState::kCancelled);
  Settle();
  clock.Advance(absl::Minutes(30));
  Start();
  AddWorker();
  EXPECT_EQ(ReasonOf(Admitted()), Reason::kTenantQuota);
  AdvanceAndPoke(absl::Minutes(31));
  EXPECT_TRUE(Admitted().ok());
}

}  // namespace
}  // namespace reel::front
