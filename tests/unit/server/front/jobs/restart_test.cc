// SPDX-License-Identifier: Apache-2.0
// A new process on the folder of one that is gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "server/errors/error.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

constexpr char kRestartedId[] = "8d1a2f6e-0000-4000-8000-000000000001";

class RestartTest : public ::testing::Test, public Harness {
 protected:
  NewJob Bound() {
    NewJob job = Request();
    job.request_id = kRestartedId;
    job.bound = true;
    return job;
  }
};

TEST_F(RestartTest, QueuedVideosRunAndRunningOnesStartAgain) {
  Start();
  AddWorker();
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(MustCreate(Request())->Snapshot().id);
  const Sent running = Take();
  Progress(running, model::Stage::kDenoise, 3);
  Media(running, 0, "half a file");
  Take();
  Settle();
  Start();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() + "/media"));
  AddWorker();
  for (int i = 0; i < 3; ++i) RunToEnd(Take(), "whole");
  for (const std::string& id : ids) {
    JobPtr job = *Find(id);
    const Video video = WaitForState(*job, VideoState::kSucceeded);
    EXPECT_EQ(ReadAll(*job), "whole");
    const bool ran = id == running.assignment.ref.job;
    EXPECT_EQ(video.attempt, ran ? 2 : 1);
    const auto restarted = FindEntry<RestartedEvent>(*job);
    ASSERT_EQ(restarted.has_value(), ran);
    if (ran) {
      EXPECT_EQ(std::get<RestartedEvent>(restarted->event).reason, "FRONT_RESTARTED");
    }
  }
}

TEST_F(RestartTest, SequenceNumbersGoOnAboveWhatWasSeen) {
  Start();
  AddWorker();
  JobPtr job = MustCreate(Request());
  const std::string id = job->Snapshot().id;
  const Sent sent = Take();
  for (int step = 1; step <= 10; ++step) Progress(sent, model::Stage::kDenoise, step);
  Settle();
  uint64_t seen = 0;
  for (auto entry = job->NextEntry(0); entry; entry = job->NextEntry(seen)) seen = entry->sequence;
  Start();
  AddWorker();
  RunToEnd(Take());
  JobPtr again = *Find(id);
  WaitForState(*again, VideoState::kSucceeded);
  const auto next = again->NextEntry(seen);
  ASSERT_TRUE(next.has_value());
  EXPECT_TRUE(std::holds_alternative<RestartedEvent>(next->event));
  EXPECT_EQ(again->NextEntry(0)->sequence, 1u);
}

TEST_F(RestartTest, ReservesNumbersLongBeforeTheyRunOut) {
  Start();
  AddWorker();
  JobPtr job = MustCreate(Request());
  const Sent sent = Take();
  uint64_t last = 0;
  for (int i = 0; i < 3000; ++i) {
    Progress(sent, model::Stage::kDenoise, 1 + i % 9);
    if (i % 100 == 0) Settle();
  }
  Settle();
  for (auto entry = job->NextEntry(0); entry; entry = job->NextEntry(last)) last = entry->sequence;
  EXPECT_GT(last, 2500u);
  const auto row = Await<std::optional<JobRow>>(
      [&](auto done) { store->Find(sent.assignment.ref.job, std::move(done)); });
  EXPECT_GE((*row)->reserved_sequence, last);
}

TEST_F(RestartTest, AVideoWhoseDeadlinePassedMeanwhileFails) {
  Start();
  AddWorker();
  NewJob request = Request();
  request.timeout = absl::Seconds(30);
  const std::string id = MustCreate(request)->Snapshot().id;
  clock.Advance(absl::Seconds(31));
  Start();
  Settle();
  JobPtr job = *Find(id);
  EXPECT_EQ(ReasonOf(WaitForState(*job, VideoState::kFailed).error), Reason::kDeadlinePassed);
}

TEST_F(RestartTest, WhatIsLeftOfADeadlineIsNeverMoreThanWasAskedFor) {
  Start();
  AddWorker();
  NewJob request = Request();
  request.timeout = absl::Seconds(30);
  MustCreate(request);
  Take();
  clock.JumpWall(-absl::Hours(1));
  Start();
  AddWorker();
  EXPECT_EQ(Take().assignment.time_left, absl::Seconds(30));
}

TEST_F(RestartTest, ABoundVideoWaitsForItsCaller) {
  Start();
  AddWorker();
  const std::string id = MustCreate(Bound())->Snapshot().id;
  Take();
  Start();
  AddWorker();
  Settle();
  EXPECT_EQ(pool.num_waiting(), 0);
  AdvanceAndPoke(absl::Seconds(119));
  JobPtr joined = MustCreate(Bound());
  EXPECT_EQ(joined->Snapshot().id, id);
  RunToEnd(Take());
  WaitForState(*joined, VideoState::kSucceeded);
}

TEST_F(RestartTest, ABoundVideoIsCancelledWhenNobodyComes) {
  Start();
  AddWorker();
  const std::string id = MustCreate(Bound())->Snapshot().id;
  Start();
  JobPtr job = *Find(id);
  AdvanceAndPoke(absl::Seconds(120));
  EXPECT_EQ(ReasonOf(WaitForState(*job, VideoState::kCancelled).error), Reason::kOwnerLeft);
}

TEST_F(RestartTest, ABoundVideoWithoutRequestIdEndsAtOnce) {
  Start();
  AddWorker();
  NewJob request = Bound();
  request.request_id.clear();
  const std::string id = MustCreate(request)->Snapshot().id;
  Start();
  Settle();
  JobPtr job = *Find(id);
  WaitForState(*job, VideoState::kCancelled);
}

TEST_F(RestartTest, FilesOfNobodyAreRemovedAndFinishedOnesStay) {
  Start();
  AddWorker();
  JobPtr job = MustCreate(Request());
  RunToEnd(Take(), "finished");
  const std::string id = WaitForState(*job, VideoState::kSucceeded).id;
  std::ofstream(folder.path() + "/media/r0-orphan.1.mp4") << "x";
  Start();
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/media/r0-orphan.1.mp4"));
  EXPECT_EQ(ReadAll(**Find(id)), "finished");
  EXPECT_EQ(media->Usage().stored_bytes, 8);
}

TEST_F(RestartTest, CostsAndCardsAreRemembered) {
  Start();
  AddWorker();
  JobPtr job = MustCreate(Request());
  const Sent sent = Take();
  for (int i = 0; i < 10; ++i) {
    StepSample sample;
    sample.model = "card";
    sample.plan = "auto";
    sample.rows = 512;
    sample.job_rows = {512};
    sample.jobs = {sent.assignment.ref.job};
    sample.duration = absl::Seconds(2);
    Step(sample);
  }
  RunToEnd(sent);
  WaitForState(*job, VideoState::kSucceeded);
  Start();
  ASSERT_FALSE(dispatcher->Models().empty());
  EXPECT_TRUE(dispatcher->Models()[0].has_card);
  EXPECT_FALSE(dispatcher->Models()[0].ready);
  const auto estimate =
      Await<CostEstimate>([&](auto done) { dispatcher->Estimate(Request(), std::move(done)); });
  ASSERT_TRUE(estimate.ok()) << estimate.status();
  EXPECT_GE(estimate->run_p50, absl::Seconds(19));

  NewJob hasty = Request();
  hasty.timeout = absl::Seconds(5);
  AddWorker();
  EXPECT_EQ(ReasonOf(Create(hasty).status()), Reason::kDeadlineUnreachable);
  options.build = "of tomorrow";  // for which it is a guess
  Start();
  AddWorker();
  EXPECT_TRUE(Create(hasty).ok());
}

TEST_F(RestartTest, AJobThatCannotBeReadIsNotStuck) {
  Start();
  AddWorker();
  Start();
  JobRow row;
  row.id = "r0-broken";
  row.tenant = "t";
  row.state = RowState::kRunning;
  row.create_time = clock.Wall();
  row.video = "nonsense";
  ASSERT_TRUE(AwaitStatus([&](auto done) {
                store->Create(row, Durability::kSynced, std::move(done));
              }).ok());
  Start();
  Settle();
  EXPECT_EQ(ReasonOf(Find("r0-broken").status()), Reason::kVideoNotFound);
}

}  // namespace
}  // namespace reel::front
