// SPDX-License-Identifier: Apache-2.0
// The straight way of a job, from the call to the finished file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "kernels/base/digest/sha256.h"
#include "server/errors/error.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;

class DispatcherTest : public ::testing::Test, public Harness {};

TEST_F(DispatcherTest, RendersAVideo) {
  Start();
  AddWorker();
  JobPtr job = MustCreate(Request());
  EXPECT_EQ(job->Snapshot().spec.width, 256);
  const Sent sent = Take();
  EXPECT_EQ(sent.worker, "w0");
  EXPECT_EQ(sent.assignment.spec.prompt, "a red fox");
  RunToEnd(sent, "fragment one");
  const Video video = WaitForState(*job, VideoState::kSucceeded);
  EXPECT_EQ(video.media.size_bytes, 12);
  EXPECT_EQ(video.media.sha256, Sha256Hex("fragment one"));
  EXPECT_EQ(video.expire_time, video.end_time + options.keep);
  EXPECT_EQ(video.worker, "w0");
  ASSERT_TRUE(video.stats.has_value());
  EXPECT_EQ(ReadAll(*job), "fragment one");
  Settle();
  EXPECT_EQ(NumActive(), 0u);
  EXPECT_EQ(observer.Get().ended.size(), 1u);
}

TEST_F(DispatcherTest, AWorkerThatIsOutIsPutBack) {
  Start();
  AddWorker();
  const auto restore = [&](const std::string& worker) {
    return Await<WorkerInfo>(
        [&](auto done) { dispatcher->RestoreWorker(worker, std::move(done)); });
  };
  const auto was = restore("w0");
  ASSERT_TRUE(was.ok());
  EXPECT_EQ(was->name, "w0");
  EXPECT_THAT(pool.restored(), ElementsAre("w0"));
  EXPECT_EQ(ReasonOf(restore("nobody").status()), Reason::kWorkerNotFound);
  EXPECT_THAT(pool.restored(), ElementsAre("w0"));
}

TEST_F(DispatcherTest, TheLogBeginsWithAcceptedAndEndsWithFinished) {
  Start();
  AddWorker();
  JobPtr job = MustCreate(Request());
  RunToEnd(Take());
  WaitForState(*job, VideoState::kSucceeded);
  std::vector<LogEntry> log;
  for (auto entry = job->NextEntry(0); entry; entry = job->NextEntry(entry->sequence)) {
    log.push_back(*entry);
  }
  ASSERT_GE(log.size(), 5u);
  EXPECT_EQ(log.front().sequence, 1u);
  EXPECT_TRUE(std::holds_alternative<AcceptedEvent>(log.front().event));
  ASSERT_TRUE(std::holds_alternative<FinishedEvent>(log.back().event));
  double fraction = 0;
  std::vector<model::Stage> stages;
  for (const LogEntry& entry : log) {
    const auto* progress = std::get_if<ProgressEvent>(&entry.event);
    if (progress == nullptr) continue;
    EXPECT_GE(progress->progress.fraction, fraction);
    EXPECT_GE(progress->progress.remaining, absl::ZeroDuration());
    fraction = progress->progress.fraction;
    if (stages.empty() || stages.back() != progress->progress.stage) {
      stages.push_back(progress->progress.stage);
    }
  }
  EXPECT_EQ(stages, (std::vector<model::Stage>{model::Stage::kQueue, model::Stage::kTextEncode,
                                               model::Stage::kDenoise, model::Stage::kDecode}));
}

TEST_F(DispatcherTest, AStoredVideoIsWhatWasSeenLive) {
  Start();
  AddWorker();
  JobPtr job = MustCreate(Request());
  const std::string id = job->Snapshot().id;
  const Sent sent = Take();
  Progress(sent, model::Stage::kDenoise, 10);
  Media(sent, 0, "one", true);
  Media(sent, 3, "two", true);
  Finish(sent, 6);
  const Video live = WaitForState(*job, VideoState::kSucceeded);
  Start();
  auto found = Find(id);
  ASSERT_TRUE(found.ok()) << found.status();
  const Video stored = (*found)->Snapshot();
  EXPECT_EQ(stored.tenant, "t");
  EXPECT_EQ(stored.media.sha256, live.media.sha256);
  EXPECT_EQ(ReadAll(**found), "onetwo");
  const auto piece = (*found)->ReadMedia(1, 100);
  EXPECT_EQ(piece->bytes, "ne");  // never past the end of a fragment
  EXPECT_TRUE(piece->fragment_end);
  EXPECT_EQ(FindEntry<FinishedEvent>(**found)->sequence, FindEntry<FinishedEvent>(*job)->sequence);
  EXPECT_EQ(ReasonOf((*found)->ReadMedia(7, 1).status()), Reason::kOffsetPastEnd);
  EXPECT_TRUE((*found)->ReadMedia(6, 1).ok());
}

TEST_F(DispatcherTest, StreamsMediaBeforeTheEnd) {
  Start();
  AddWorker();
  JobPtr job = MustCreate(Request());
  const Sent sent = Take();
  Progress(sent, model::Stage::kDecode, 10);
  Media(sent, 0, "first", true);
  Settle();
  EXPECT_EQ(job->media_size(), 5);
  EXPECT_EQ(job->ReadMedia(0, 100)->bytes, "first");
  EXPECT_EQ(job->ReadMedia(5, 100)->bytes, "");
  EXPECT_EQ(job->ReadMedia(99, 100)->bytes, "");  // it may still grow to there
}

TEST_F(DispatcherTest, AQueuedVideoRunsWhenAWorkerComes) {
  Start();
  AddWorker();
  Start();  // the card is known from before
  JobPtr job = MustCreate(Request());
  EXPECT_EQ(job->Snapshot().state, VideoState::kQueued);
  AddWorker();
  RunToEnd(Take());
  WaitForState(*job, VideoState::kSucceeded);
}

TEST_F(DispatcherTest, RunsInTheOrderOfArrivalWhenAskedTo) {
  options.fifo = true;
  Start();
  AddWorker();
  std::vector<std::string> created;
  std::vector<JobPtr> jobs;
  for (int i = 0; i < 5; ++i) {
    jobs.push_back(MustCreate(Request()));
    created.push_back(jobs.back()->Snapshot().id);
    clock.Advance(absl::Milliseconds(1));
  }
  for (const std::string& id : created) {
    const Sent sent = Take();
    EXPECT_EQ(sent.assignment.ref.job, id);
    Settle();
    EXPECT_EQ(pool.num_waiting(), 0);
    RunToEnd(sent);
  }
  for (JobPtr& job : jobs) WaitForState(*job, VideoState::kSucceeded);
}

TEST_F(DispatcherTest, CarriesConditionsToTheWorkerAndDropsThemAfter) {
  Start();
  AddWorker();
  NewJob request = Request();
  model::Condition condition;
  condition.content_type = "image/png";
  condition.sha256 = Sha256Hex("pixels");
  condition.size_bytes = 6;
  condition.bytes = std::make_shared<const std::string>("pixels");
  request.spec.conditions.push_back(condition);
  JobPtr job = MustCreate(std::move(request));
  EXPECT_EQ(job->Snapshot().spec.conditions[0].bytes, nullptr);
  const Sent sent = Take();
  ASSERT_EQ(sent.assignment.spec.conditions.size(), 1u);
  EXPECT_EQ(*sent.assignment.spec.conditions[0].bytes, "pixels");
  RunToEnd(sent);
  WaitForState(*job, VideoState::kSucceeded);
  Settle();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() + "/conditions"));
}

TEST_F(DispatcherTest, HundredsOfJobsLeaveNothingInMemory) {
  options.max_queued_jobs = 1000;
  options.max_backlog_seconds = 1e6;
  Start();
  AddWorker();
  constexpr int kRounds = 30, kAtOnce = 20;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<JobPtr> jobs;
    for (int i = 0; i < kAtOnce; ++i) jobs.push_back(MustCreate(Request()));
    for (int i = 0; i < kAtOnce; ++i) RunToEnd(Take());
    for (JobPtr& job : jobs) WaitForState(*job, VideoState::kSucceeded);
  }
  Settle();
  EXPECT_EQ(NumActive(), 0u);
  EXPECT_EQ(observer.Get().ended.size(), size_t{kRounds * kAtOnce});
  EXPECT_EQ(dispatcher->Running("w0"), 0);
  EXPECT_EQ(observer.Get().gauges.queued, 0);
  EXPECT_EQ(observer.Get().gauges.running, 0);
}

TEST_F(DispatcherTest, ADamagedFileIsNoticed) {
  Start();
  AddWorker();
  JobPtr job = MustCreate(Request());
  const std::string id = job->Snapshot().id;
  RunToEnd(Take(), "some bytes");
  WaitForState(*job, VideoState::kSucceeded);
  std::filesystem::resize_file(folder.path() + "/media/" + id + ".1.mp4", 3);
  auto found = Find(id);
  EXPECT_EQ(ReasonOf((*found)->ReadMedia(0, 100).status()), Reason::kMediaCorrupt);
}

TEST_F(DispatcherTest, AFullDiskFailsTheOneJobAndLeavesNoFile) {
  Start();
  AddWorker();
  JobPtr job = MustCreate(Request());
  const Sent sent = Take();
  Progress(sent, model::Stage::kDecode, 10);
  disk.room = 3;
  Media(sent, 0, "too much", true);
  const Video video = WaitForState(*job, VideoState::kFailed);
  EXPECT_EQ(ReasonOf(video.error), Reason::kStoreFull);
  Settle();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() + "/media"));
  EXPECT_EQ(pool.cancelled().size(), 1u);
  CancelledAtWorker(sent);
  disk.room = 1 << 20;
  JobPtr next = MustCreate(Request());
  RunToEnd(Take());
  WaitForState(*next, VideoState::kSucceeded);
}

TEST_F(DispatcherTest, AWorkerThatMiscountsIsNoSuccess) {
  Start();
  AddWorker();
  JobPtr job = MustCreate(Request());
  const Sent sent = Take();
  Media(sent, 0, "abc");
  Finish(sent, 4);
  const Video video = WaitForState(*job, VideoState::kFailed);
  EXPECT_EQ(ReasonOf(video.error), Reason::kWorkerFault);
}

}  // namespace
}  // namespace reel::front
