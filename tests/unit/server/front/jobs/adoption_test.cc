// SPDX-License-Identifier: Apache-2.0
// Jobs that a fleet admitted and this server runs, for as long as they are its own.
#include "server/front/jobs/adoption.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "server/errors/error.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

class AdoptionTest : public ::testing::Test, public Harness {
 protected:
  void SetUp() override {
    options.replica = "prod";
    options.alone = false;
    journal.Hold();
    Start();
    AddWorker();
  }
  AdoptedJob JobOf(uint32_t epoch, int attempt) {
    auto video = Await<Video>([&](auto done) { dispatcher->Validate(Request(), std::move(done)); });
    EXPECT_TRUE(video.ok()) << video.status();
    video->id = id_;
    return {*std::move(video), epoch, attempt};
  }
  JobPtr MustAdopt(uint32_t epoch = 1, int attempt = 1) {
    auto job = Adopt(JobOf(epoch, attempt));
    EXPECT_TRUE(job.ok()) << job.status();
    return *job;
  }
  // The one end that the journal was told.
  ScriptedJournal::Told TakeEnd() {
    Settle();
    auto ends = journal.Take();
    EXPECT_EQ(ends.size(), 1U);
    return std::move(ends.front());
  }
  const std::string id_ = "prod-abcdefghijklmnopqrstuvwxyz";
};

// A fleet's tenant that was idle here, however long others have run.
TEST_F(AdoptionTest, ATenantThatWasAwayGetsNoMoreThanItMaySaveUp) {
  LearnSteps(absl::Seconds(2));
  char letter = 'a';
  const auto adopt = [&](const std::string& tenant) {
    AdoptedJob job = JobOf(1, 1);
    job.video.tenant = tenant;
    job.video.id.back() = letter++;
    EXPECT_TRUE(Adopt(std::move(job)).ok());
    Settle();
  };
  // Twenty seconds each.
  for (int i = 0; i < 3; ++i) {
    adopt("t");
    RunToEnd(Take());
    TakeEnd().done(absl::OkStatus());
    Settle();
  }
  adopt("t");
  Progress(Take(), model::Stage::kDenoise, 1);
  adopt("t");
  adopt("u");
  adopt("u");
  // Of the newcomer one goes before what waits of the other, and no second one.
  EXPECT_EQ(pool.num_waiting(), 2);
}

// No log keeps them, so the reservation does.
TEST_F(AdoptionTest, TakesTheSpanAndTheModeOfTheCallThatItWasReservedFor) {
  NewJob request = Request();
  request.bound = true;
  request.caller_span = {"00f067aa0ba902b7", true};
  auto reserved =
      Await<Video>([&](auto done) { dispatcher->Reserve(std::move(request), std::move(done)); });
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  reserved->caller_span = {};
  const auto job = Adopt({*reserved, 1, 1});
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ((*job)->Snapshot().caller_span.id, "00f067aa0ba902b7");
  RunToEnd(Take());
  TakeEnd().done(absl::OkStatus());
  WaitForState(**job, VideoState::kSucceeded);
  EXPECT_EQ(observer.Get().ended_detached, std::vector<bool>{false});
}

TEST_F(AdoptionTest, ItsRunIsComparedWithWhatWasExpected) {
  LearnSteps(absl::Seconds(2));
  const JobPtr job = MustAdopt();
  RunToEnd(Take());
  TakeEnd().done(absl::OkStatus());
  WaitForState(*job, VideoState::kSucceeded);
  EXPECT_EQ(observer.Get().estimates, 1);
}

TEST_F(AdoptionTest, ASuccessIsToldOnlyWhenTheJournalHasIt) {
  JobPtr job = MustAdopt(2, 3);
  const Sent sent = Take();
  EXPECT_EQ(sent.assignment.ref.job, id_);
  EXPECT_EQ(sent.assignment.ref.attempt, 3);
  RunToEnd(sent);
  auto end = TakeEnd();
  EXPECT_FALSE(IsFinal(job->state()));
  EXPECT_EQ(end.id, id_);
  EXPECT_EQ(end.epoch, 2U);
  EXPECT_EQ(end.video.state, VideoState::kSucceeded);
  EXPECT_EQ(end.video.media.size_bytes, 6);
  EXPECT_GT(end.last_sequence, 1'000'000U);  // above those of the owner before
  std::move(end.done)(absl::OkStatus());
  WaitForState(*job, VideoState::kSucceeded);
  EXPECT_EQ(FindEntry<FinishedEvent>(*job)->sequence, end.last_sequence);
  Settle();
  EXPECT_EQ(NumActive(), 0U);
  EXPECT_EQ(ReadAll(**Find(id_)), "frames");
}

TEST_F(AdoptionTest, ConditionsReachTheWorkerAndGoWithTheJob) {
  AdoptedJob adopted = JobOf(1, 1);
  adopted.video.spec.conditions.resize(2);
  adopted.conditions = {std::make_shared<const std::string>("one"),
                        std::make_shared<const std::string>("two")};
  ASSERT_TRUE(Adopt(std::move(adopted)).ok());
  const Sent sent = Take();
  ASSERT_EQ(sent.assignment.spec.conditions.size(), 2U);
  EXPECT_EQ(*sent.assignment.spec.conditions[0].bytes, "one");
  EXPECT_EQ(*sent.assignment.spec.conditions[1].bytes, "two");
  const int64_t with_them = media->Usage().stored_bytes;
  EXPECT_EQ(with_them, 6);
  dispatcher->Abandon(id_);
  CancelledAtWorker(sent);
  Settle();
  EXPECT_EQ(media->Usage().stored_bytes, 0);
}

TEST_F(AdoptionTest, AnEndThatDoesNotCountLeavesNothing) {
  JobPtr job = MustAdopt();
  RunToEnd(Take());
  auto end = TakeEnd();
  std::move(end.done)(absl::AbortedError("taken over"));
  Settle();
  EXPECT_FALSE(IsFinal(job->state()));
  EXPECT_EQ(NumActive(), 0U);
  EXPECT_FALSE(Find(id_).ok());
}

TEST_F(AdoptionTest, AResultIsStoredBeforeTheJournalIsAskedAndOutlivesItsProcess) {
  MustAdopt();
  RunToEnd(Take());
  auto end = TakeEnd();
  Start();
  auto found = Find(id_);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ((*found)->state(), VideoState::kSucceeded);
  EXPECT_EQ(FindEntry<FinishedEvent>(**found)->sequence, end.last_sequence);
  EXPECT_EQ(ReadAll(**found), "frames");
}

TEST_F(AdoptionTest, AResultThatIsForTheNextProcessToTellStays) {
  JobPtr job = MustAdopt();
  RunToEnd(Take());
  auto end = TakeEnd();
  std::move(end.done)(absl::CancelledError("a drain"));
  Settle();
  EXPECT_FALSE(IsFinal(job->state()));
  EXPECT_EQ(NumActive(), 0U);
  Start();
  EXPECT_EQ(ReadAll(**Find(id_)), "frames");
}

TEST_F(AdoptionTest, WhatIsAnothersStopsAndIsNoEnd) {
  JobPtr job = MustAdopt();
  const Sent sent = Take();
  Progress(sent, model::Stage::kDenoise, 3);
  Settle();
  dispatcher->Abandon(id_);
  Settle();
  EXPECT_EQ(NumActive(), 0U);
  EXPECT_TRUE(journal.Take().empty());
  EXPECT_FALSE(IsFinal(job->state()));
  // It may come back, as a later attempt.
  CancelledAtWorker(sent);
  MustAdopt(3, 2);
  EXPECT_EQ(Take().assignment.ref.attempt, 2);
}

TEST_F(AdoptionTest, AnAbandonedJobWhoseEndIsDecidedIsTheJournalsToJudge) {
  MustAdopt();
  RunToEnd(Take());
  auto end = TakeEnd();
  dispatcher->Abandon(id_);
  EXPECT_TRUE(absl::IsUnavailable(Adopt(JobOf(2, 2)).status()));
  std::move(end.done)(absl::AbortedError("taken over"));
  Settle();
  EXPECT_EQ(NumActive(), 0U);
}

TEST_F(AdoptionTest, AWishEndsItThroughTheJournal) {
  JobPtr job = MustAdopt();
  Take();
  dispatcher->EndAdopted(id_, absl::OkStatus());
  auto end = TakeEnd();
  EXPECT_EQ(end.video.state, VideoState::kCancelled);
  EXPECT_FALSE(IsFinal(job->state()));
  std::move(end.done)(absl::OkStatus());
  WaitForState(*job, VideoState::kCancelled);
}

TEST_F(AdoptionTest, AnEndThatIsWishedForSaysWhy) {
  const std::pair<Reason, Reason> ends[] = {{Reason::kOwnerLeft, Reason::kOwnerLeft},
                                            {Reason::kDeadlinePassed, Reason::kDeadlinePassed},
                                            {Reason::kCancelledByOwner, Reason::kCancelledByOwner},
                                            {Reason::kInternal, Reason::kCancelledByOwner}};
  int epoch = 0;
  for (const auto& [wished, told] : ends) {
    ++epoch;
    ASSERT_TRUE(Adopt(JobOf(static_cast<uint32_t>(epoch), epoch)).ok());
    Take();
    dispatcher->EndAdopted(id_, MakeError(wished, "why"));
    auto end = TakeEnd();
    EXPECT_EQ(ReasonOf(end.video.error), told);
    std::move(end.done)(absl::AbortedError("taken over"));
    Settle();
  }
}

TEST_F(AdoptionTest, AfterARestartTheLogAloneSaysWhoseItIs) {
  MustAdopt();
  Take();
  Settle();
  Start();
  Settle();
  EXPECT_EQ(NumActive(), 0U);
  EXPECT_FALSE(Find(id_).ok());
}

TEST_F(AdoptionTest, WhatNoWorkerHasCanBeGivenUp) {
  dispatcher->WorkerLost("w0", LossCause::kKilled);
  MustAdopt();
  std::vector<std::string> ids;
  dispatcher->AbandonUnsent([&](std::vector<std::string> given) { ids = std::move(given); });
  Settle();
  EXPECT_EQ(ids, std::vector<std::string>{id_});
  EXPECT_EQ(NumActive(), 0U);
}

TEST_F(AdoptionTest, AFleetsLoadDecidesInPlaceOfOnesOwn) {
  NewJob job = Request();
  job.fleet_load = NewJob::FleetLoad{0, 256};
  auto refused = Await<Video>([&](auto done) { dispatcher->Validate(job, std::move(done)); });
  EXPECT_TRUE(absl::IsResourceExhausted(refused.status())) << refused.status();
  job.fleet_load = NewJob::FleetLoad{options.max_queued_jobs, 0};
  refused = Await<Video>([&](auto done) { dispatcher->Validate(job, std::move(done)); });
  EXPECT_TRUE(absl::IsUnavailable(refused.status())) << refused.status();
  const auto estimate =
      Await<CostEstimate>([&](auto done) { dispatcher->Estimate(job, std::move(done)); });
  ASSERT_TRUE(estimate.ok()) << estimate.status();
  EXPECT_EQ(estimate->queue_position, options.max_queued_jobs);
}

}  // namespace
}  // namespace reel::front
