// SPDX-License-Identifier: Apache-2.0
// Request ids: who makes a job, who joins one, who is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <set>
#include <thread>

#include "server/errors/error.h"
#include "server/front/store/sqlite.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

constexpr char kRequestId[] = "8d1a2f6e-0000-4000-8000-000000000001";

class CreationTest : public ::testing::Test, public Harness {
 protected:
  NewJob WithId(const std::string& prompt = "a red fox", bool bound = false) {
    NewJob job = Request(prompt);
    job.request_id = kRequestId;
    job.bound = bound;
    return job;
  }
  std::string IdOf(const JobPtr& job) { return job->Snapshot().id; }
};

TEST_F(CreationTest, AHundredDuplicatesAtOnceMakeOneJob) {
  Start();
  AddWorker();
  constexpr int kThreads = 10, kEach = 10;
  Mutex mutex;
  std::multiset<std::string> ids;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        auto job = Create(WithId());
        MutexLock lock(mutex);
        ids.insert(job.ok() ? IdOf(*job) : "refused");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ids.size(), size_t{kThreads * kEach});
  EXPECT_EQ(ids.count(*ids.begin()), ids.size()) << *ids.begin();
  EXPECT_EQ(*ids.begin(), Take().assignment.ref.job);
  EXPECT_EQ(pool.num_waiting(), 0);
  EXPECT_EQ(NumActive(), 1u);
}

// As with a disk that takes its time: somebody else has the right to write to the database.
TEST_F(CreationTest, ARefusalWaitsForNoDisk) {
  options.max_queued_jobs = 1;
  Start();
  AddWorker();
  auto other = *Database::OpenAgain(folder.File("reel.db"));
  Settle();
  ASSERT_TRUE(other->Execute("BEGIN IMMEDIATE").ok());
  std::promise<absl::StatusOr<JobPtr>> taken;
  dispatcher->Create(Request(), [&](auto job) { taken.set_value(std::move(job)); });
  auto answer = taken.get_future();
  EXPECT_EQ(ReasonOf(Create(Request()).status()), Reason::kQueueFull);
  EXPECT_EQ(ReasonOf(Create(WithId()).status()), Reason::kQueueFull);
  EXPECT_EQ(answer.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  ASSERT_TRUE(other->Execute("COMMIT").ok());
  EXPECT_TRUE(answer.get().ok());
}

TEST_F(CreationTest, AReservationCountsUntilItIsDropped) {
  options.max_queued_jobs = 1;
  Start();
  AddWorker();
  const auto reserve = [&] {
    return Await<Video>([&](auto done) { dispatcher->Reserve(Request(), std::move(done)); });
  };
  const auto reserved = reserve();
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  EXPECT_EQ(ReasonOf(reserve().status()), Reason::kQueueFull);
  EXPECT_EQ(ReasonOf(Create(Request()).status()), Reason::kQueueFull);
  EXPECT_EQ(pool.num_waiting(), 0);  // no worker gets it
  EXPECT_EQ(Find(reserved->id).status().code(), absl::StatusCode::kNotFound);
  dispatcher->DropReservation(reserved->id);
  EXPECT_TRUE(reserve().ok());
}

TEST_F(CreationTest, AnotherSpecIsAConflict) {
  Start();
  AddWorker();
  JobPtr first = MustCreate(WithId("a red fox"));
  EXPECT_EQ(ReasonOf(Create(WithId("a blue fox")).status()), Reason::kRequestIdConflict);
  RunToEnd(Take());
  WaitForState(*first, VideoState::kSucceeded);
  EXPECT_EQ(ReasonOf(Create(WithId("a blue fox")).status()), Reason::kRequestIdConflict);
}

TEST_F(CreationTest, PriorityTimeoutAndLabelsDoNotCount) {
  Start();
  AddWorker();
  JobPtr first = MustCreate(WithId());
  NewJob again = WithId();
  again.priority = Priority::kHigh;
  again.timeout = absl::Seconds(99);
  again.labels = {{"a", "b"}};
  EXPECT_EQ(IdOf(MustCreate(again)), IdOf(first));
}

TEST_F(CreationTest, AFinishedVideoIsJoinedAlsoAfterARestart) {
  Start();
  AddWorker();
  JobPtr first = MustCreate(WithId());
  RunToEnd(Take(), "bytes");
  WaitForState(*first, VideoState::kSucceeded);
  Start();
  JobPtr joined = MustCreate(WithId());
  EXPECT_EQ(IdOf(joined), IdOf(first));
  EXPECT_EQ(joined->Snapshot().state, VideoState::kSucceeded);
  EXPECT_EQ(ReadAll(*joined), "bytes");
}

TEST_F(CreationTest, AJobThatEndedOtherwiseFreesItsId) {
  Start();
  AddWorker();
  JobPtr first = MustCreate(WithId());
  Take();
  ASSERT_TRUE(Cancel(IdOf(first)).ok());
  JobPtr second = MustCreate(WithId("another spec, too"));
  EXPECT_NE(IdOf(second), IdOf(first));
  EXPECT_EQ(first->Snapshot().state, VideoState::kCancelled);
}

TEST_F(CreationTest, ARemovedVideoIsExpiredNotRenderedAgain) {
  Start();
  AddWorker();
  JobPtr first = MustCreate(WithId());
  RunToEnd(Take());
  WaitForState(*first, VideoState::kSucceeded);
  Settle();
  ASSERT_TRUE(Delete(IdOf(first)).ok());
  EXPECT_EQ(ReasonOf(Create(WithId()).status()), Reason::kVideoExpired);
}

TEST_F(CreationTest, TenantsHaveTheirOwnIds) {
  Start();
  AddWorker();
  JobPtr mine = MustCreate(WithId());
  NewJob other = WithId();
  other.tenant = "u";
  EXPECT_NE(IdOf(MustCreate(other)), IdOf(mine));
}

TEST_F(CreationTest, ARefusalHoldsNobodyUp) {
  options.max_queued_jobs = 1;
  Start();
  AddWorker();
  std::vector<JobPtr> fill = {MustCreate(Request()), MustCreate(Request())};
  Take();
  Take();
  JobPtr queued = MustCreate(Request());
  EXPECT_EQ(ReasonOf(Create(WithId()).status()), Reason::kQueueFull);
  EXPECT_EQ(ReasonOf(Create(WithId()).status()), Reason::kQueueFull);
  ASSERT_TRUE(Cancel(IdOf(queued)).ok());
  EXPECT_TRUE(Create(WithId()).ok());
}

TEST_F(CreationTest, ABoundJobEndsWhenTheLastCallLeaves) {
  Start();
  AddWorker();
  JobPtr job = MustCreate(WithId("a red fox", true));
  EXPECT_EQ(IdOf(MustCreate(WithId("a red fox", true))), IdOf(job));
  dispatcher->Leave(IdOf(job), LeaveReason::kCallerLeft);
  Settle();
  EXPECT_FALSE(IsFinal(job->Snapshot().state));
  dispatcher->Leave(IdOf(job), LeaveReason::kCallerLeft);
  const Video video = WaitForState(*job, VideoState::kCancelled);
  EXPECT_EQ(ReasonOf(video.error), Reason::kOwnerLeft);
}

TEST_F(CreationTest, AnUnboundCallDetachesForGood) {
  Start();
  AddWorker();
  JobPtr job = MustCreate(WithId("a red fox", true));
  MustCreate(WithId("a red fox", false));
  dispatcher->Leave(IdOf(job), LeaveReason::kCallerLeft);
  MustCreate(WithId("a red fox", true));
  dispatcher->Leave(IdOf(job), LeaveReason::kCallerLeft);
  Settle();
  EXPECT_FALSE(IsFinal(job->Snapshot().state));
  RunToEnd(Take());
  WaitForState(*job, VideoState::kSucceeded);
  EXPECT_EQ(observer.Get().ended_detached, std::vector<bool>{true});
}

TEST_F(CreationTest, AnUnboundCallOnAVideoThatIsFinishingSpoilsNoStoredEnd) {
  Start();
  AddWorker();
  JobPtr job = MustCreate(WithId("a red fox", true));
  const Sent sent = Take();
  Progress(sent, model::Stage::kDenoise, 10);
  Media(sent, 0, "x");
  Settle();
  failing_store->HoldUpdates();
  Finish(sent, 1);
  Settle();
  ASSERT_EQ(failing_store->num_held(), 1u);  // its success
  auto joined = std::make_shared<reel::testing::Promised<absl::StatusOr<JobPtr>>>();
  dispatcher->Create(WithId(), [joined](auto found) { joined->Give(std::move(found)); });
  Settle();
  failing_store->ReleaseUpdates();
  const auto found = *joined->Take();
  ASSERT_TRUE(found.ok()) << found.status();
  WaitForState(**found, VideoState::kSucceeded);
  Start();
  EXPECT_EQ((*Find(IdOf(job)))->Snapshot().state, VideoState::kSucceeded);
}

TEST_F(CreationTest, LeavingADetachedJobChangesNothing) {
  Start();
  AddWorker();
  JobPtr job = MustCreate(Request());
  dispatcher->Leave(IdOf(job), LeaveReason::kCallerLeft);
  dispatcher->Leave("unknown", LeaveReason::kCallerLeft);
  Settle();
  EXPECT_FALSE(IsFinal(job->Snapshot().state));
}

TEST_F(CreationTest, ValidateChecksEverythingAndStartsNothing) {
  Start();
  AddWorker();
  const auto validate = [&](NewJob job) {
    return Await<Video>([&](auto done) { dispatcher->Validate(std::move(job), std::move(done)); });
  };
  const auto valid = validate(Request());
  ASSERT_TRUE(valid.ok()) << valid.status();
  EXPECT_EQ(valid->id, "");
  EXPECT_EQ(valid->spec.width, 256);
  NewJob wrong = Request();
  wrong.spec.width = 100;
  EXPECT_EQ(ReasonOf(validate(wrong).status()), Reason::kInvalidSpec);
  EXPECT_EQ(NumActive(), 0u);
}

TEST_F(CreationTest, AFullDiskMakesNoJobOfARequestWithPictures) {
  Start();
  AddWorker();
  disk.room = 2;
  NewJob request = Request();
  model::Condition condition;
  condition.content_type = "image/png";
  condition.size_bytes = 6;
  condition.bytes = std::make_shared<const std::string>("pixels");
  request.spec.conditions.push_back(condition);
  EXPECT_EQ(ReasonOf(Create(request).status()), Reason::kStoreFull);
  EXPECT_EQ(NumActive(), 0u);
}

}  // namespace
}  // namespace reel::front
