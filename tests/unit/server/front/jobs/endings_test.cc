// SPDX-License-Identifier: Apache-2.0
// Cancels, deadlines, and races between ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "server/errors/error.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;

class EndingsTest : public ::testing::Test, public Harness {
 protected:
  void SetUp() override {
    Start();
    AddWorker();
  }
};

TEST_F(EndingsTest, CancelsARunningVideoAndFreesItsSlot) {
  JobPtr job = MustCreate(Request());
  const std::string id = job->Snapshot().id;
  const Sent sent = Take();
  Progress(sent, model::Stage::kDenoise, 3);
  Media(sent, 0, "partial");
  Settle();
  const auto before = Cancel(id);
  ASSERT_TRUE(before.ok());
  EXPECT_EQ(before->state, VideoState::kRunning);
  const Video video = WaitForState(*job, VideoState::kCancelled);
  EXPECT_EQ(ReasonOf(video.error), Reason::kCancelledByOwner);
  EXPECT_EQ(video.expire_time, video.end_time + options.keep_failed);
  EXPECT_THAT(pool.cancelled(), ElementsAre(id));
  EXPECT_EQ(dispatcher->Running("w0"), 1);  // until the worker says so
  clock.Advance(absl::Milliseconds(30));
  CancelledAtWorker(sent);
  Settle();
  EXPECT_EQ(dispatcher->Running("w0"), 0);
  EXPECT_THAT(observer.Get().cancels, ElementsAre(absl::Milliseconds(30)));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() + "/media"));
  EXPECT_EQ(job->media_size(), 0);
}

TEST_F(EndingsTest, AWishThatComesTwiceOrTooLateChangesNothing) {
  JobPtr job = MustCreate(Request());
  const std::string id = job->Snapshot().id;
  RunToEnd(Take());
  WaitForState(*job, VideoState::kSucceeded);
  dispatcher->EndAdopted(id, absl::OkStatus());
  JobPtr other = MustCreate(Request());
  for (int i = 0; i < 2; ++i) dispatcher->EndAdopted(other->Snapshot().id, absl::OkStatus());
  WaitForState(*other, VideoState::kCancelled);
  Settle();
  EXPECT_EQ(observer.Get().ended.size(), 2u);
}

TEST_F(EndingsTest, TheRaceWithSuccessIsDecidedOnce) {
  for (int round = 0; round < 20; ++round) {
    JobPtr job = MustCreate(Request());
    const std::string id = job->Snapshot().id;
    const Sent sent = Take();
    Progress(sent, model::Stage::kDenoise, 10);
    Media(sent, 0, "x");
    const size_t ended = observer.Get().ended.size();
    if (round % 2 == 0) {
      Finish(sent, 1);
      ASSERT_TRUE(Cancel(id).ok());
      WaitForState(*job, VideoState::kSucceeded);
    } else {
      ASSERT_TRUE(Cancel(id).ok());
      Finish(sent, 1);
      WaitForState(*job, VideoState::kCancelled);
    }
    Settle();
    EXPECT_EQ(observer.Get().ended.size(), ended + 1);
    EXPECT_EQ(dispatcher->Running("w0"), 0);
  }
}

TEST_F(EndingsTest, ADeadlineEndsAQueuedVideo) {
  for (int i = 0; i < 2; ++i) {
    MustCreate(Request());
    Progress(Take(), model::Stage::kTextEncode, 0);  // or the one with less time would pass it
  }
  NewJob request = Request();
  request.timeout = absl::Seconds(10);
  JobPtr job = MustCreate(request);
  AdvanceAndPoke(absl::Seconds(9));
  EXPECT_FALSE(IsFinal(job->Snapshot().state));
  AdvanceAndPoke(absl::Seconds(1));
  const Video video = WaitForState(*job, VideoState::kFailed);
  EXPECT_EQ(ReasonOf(video.error), Reason::kDeadlinePassed);
  EXPECT_TRUE(pool.cancelled().empty());
}

TEST_F(EndingsTest, ADeadlineEndsARunningVideoAndTellsItsSteps) {
  NewJob request = Request();
  request.timeout = absl::Seconds(10);
  JobPtr job = MustCreate(request);
  const Sent sent = Take();
  EXPECT_EQ(sent.assignment.time_left, absl::Seconds(10));
  Progress(sent, model::Stage::kDenoise, 4);
  AdvanceAndPoke(absl::Seconds(10));
  const Video video = WaitForState(*job, VideoState::kFailed);
  EXPECT_EQ(ReasonOf(video.error), Reason::kDeadlinePassed);
  EXPECT_THAT(std::string(video.error.message()), ::testing::HasSubstr("4 of 10"));
  EXPECT_EQ(pool.cancelled().size(), 1u);
}

TEST_F(EndingsTest, ASetClockMovesNoDeadline) {
  NewJob request = Request();
  request.timeout = absl::Seconds(10);
  JobPtr job = MustCreate(request);
  Take();
  for (absl::Duration jump : {absl::Hours(1), absl::Hours(-2)}) {
    clock.JumpWall(jump);
    AdvanceAndPoke(absl::Seconds(4));
    EXPECT_FALSE(IsFinal(job->Snapshot().state));
  }
  AdvanceAndPoke(absl::Seconds(2));
  WaitForState(*job, VideoState::kFailed);
}

TEST_F(EndingsTest, ADeadlineThatTheWorkerSawIsADeadline) {
  JobPtr job = MustCreate(Request());
  Failed(Take(), absl::DeadlineExceededError("time is up"));
  EXPECT_EQ(ReasonOf(WaitForState(*job, VideoState::kFailed).error), Reason::kDeadlinePassed);
}

TEST_F(EndingsTest, AFileThatIsThereAtItsDeadlineIsTooLate) {
  NewJob request = Request();
  request.timeout = absl::Seconds(10);
  JobPtr job = MustCreate(request);
  const Sent sent = Take();
  Progress(sent, model::Stage::kDenoise, 10);
  Media(sent, 0, "x");
  AdvanceAndHear(absl::Seconds(10), [&] { Finish(sent, 1); });
  EXPECT_EQ(ReasonOf(WaitForState(*job, VideoState::kFailed).error), Reason::kDeadlinePassed);
  EXPECT_TRUE(pool.cancelled().empty());
  Settle();
  EXPECT_EQ(dispatcher->Running("w0"), 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() + "/media"));
}

TEST_F(EndingsTest, AWorkerThatHasLetGoIsNotToldToStop) {
  JobPtr job = MustCreate(Request());
  Failed(Take(), absl::DeadlineExceededError("time is up"));
  WaitForState(*job, VideoState::kFailed);
  EXPECT_TRUE(pool.cancelled().empty());
}

TEST_F(EndingsTest, StatsSayWhatTheFrontSaw) {
  JobPtr job = MustCreate(Request());
  const Sent sent = Take();
  clock.Advance(absl::Seconds(2));
  Progress(sent, model::Stage::kDenoise, 1);
  Settle();
  clock.Advance(absl::Seconds(3));
  Media(sent, 0, "x");
  Settle();
  clock.Advance(absl::Seconds(1));
  Finish(sent, 1);
  const Video video = WaitForState(*job, VideoState::kSucceeded);
  EXPECT_EQ(video.stats->queued, absl::Seconds(2));
  EXPECT_EQ(video.stats->first_media_byte, absl::Seconds(5));
  EXPECT_EQ(video.stats->total, absl::Seconds(6));
}

// In seconds, by part.
std::map<model::RunPart, double> PartsOfBill(const Video& video) {
  std::map<model::RunPart, double> parts;
  if (!video.stats.has_value()) return parts;
  absl::Duration sum;
  for (const model::PartTime& part : video.stats->parts) {
    parts[part.part] = absl::ToDoubleSeconds(part.time);
    sum += part.time;
  }
  EXPECT_EQ(sum, video.stats->total);
  return parts;
}

using Bill = std::map<model::RunPart, double>;

TEST_F(EndingsTest, TheBillOfASuccessHasTheWorkersPartsWithinTheFronts) {
  JobPtr job = MustCreate(Request());
  const Sent sent = Take();
  clock.Advance(absl::Seconds(2));
  Progress(sent, model::Stage::kDenoise, 1);
  Settle();
  clock.Advance(absl::Seconds(8));
  Media(sent, 0, "x");
  JobFinished finished;
  finished.media.size_bytes = 1;
  finished.stats.parts = {{model::RunPart::kText, absl::Seconds(3)},
                          {model::RunPart::kWait, absl::Seconds(1)},
                          {model::RunPart::kDenoise, absl::Seconds(4)}};
  finished.stats.spans = {{model::RunPart::kDenoise, absl::Seconds(4), absl::Seconds(4), 1, 2}};
  Report(sent, std::move(finished));
  const Video video = WaitForState(*job, VideoState::kSucceeded);
  EXPECT_EQ(PartsOfBill(video), (Bill{{model::RunPart::kHandover, 2},
                                      {model::RunPart::kText, 3},
                                      {model::RunPart::kWait, 1},
                                      {model::RunPart::kDenoise, 4}}));
  ASSERT_EQ(video.stats->spans.size(), 1u);
  EXPECT_EQ(video.stats->spans[0].start, absl::Seconds(4));
}

TEST_F(EndingsTest, AJobThatIsCancelledHasABillToo) {
  JobPtr job = MustCreate(Request());
  const Sent sent = Take();
  clock.Advance(absl::Seconds(1));
  Progress(sent, model::Stage::kTextEncode, 0);
  Settle();
  clock.Advance(absl::Seconds(2));
  Progress(sent, model::Stage::kDenoise, 1);
  Settle();
  clock.Advance(absl::Seconds(4));
  ASSERT_TRUE(Cancel(job->Snapshot().id).ok());
  EXPECT_EQ(PartsOfBill(WaitForState(*job, VideoState::kCancelled)),
            (Bill{{model::RunPart::kHandover, 1},
                  {model::RunPart::kText, 2},
                  {model::RunPart::kDenoise, 4}}));
}

TEST_F(EndingsTest, ALostAttemptIsAPartOfTheBill) {
  JobPtr job = MustCreate(Request());
  const Sent sent = Take();
  Progress(sent, model::Stage::kDenoise, 1);
  Settle();
  clock.Advance(absl::Seconds(5));
  dispatcher->WorkerLost("w0", LossCause::kKilled);
  Settle();
  clock.Advance(absl::Seconds(1));
  ASSERT_TRUE(Cancel(job->Snapshot().id).ok());
  EXPECT_EQ(PartsOfBill(WaitForState(*job, VideoState::kCancelled)),
            (Bill{{model::RunPart::kLost, 5}, {model::RunPart::kQueue, 1}}));
}

// Its log has it; of the row a new process makes nothing.
TEST_F(EndingsTest, AnEndThatTheStoreCannotTakeIsStillTheEnd) {
  JobPtr job = MustCreate(Request());
  const std::string id = job->Snapshot().id;
  const Sent sent = Take();
  Progress(sent, model::Stage::kDenoise, 3);
  Settle();
  failing_store->fail_updates = true;
  ASSERT_TRUE(Cancel(id).ok());
  WaitForState(*job, VideoState::kCancelled);
  Settle();
  Start();
  EXPECT_EQ(NumActive(), 0u);
  EXPECT_FALSE(Find(id).ok());
}

TEST_F(EndingsTest, ASuccessThatCannotBeStoredIsNone) {
  JobPtr job = MustCreate(Request());
  const Sent sent = Take();
  Progress(sent, model::Stage::kDenoise, 10);
  Media(sent, 0, "x");
  Settle();
  failing_store->fail_updates = true;
  Finish(sent, 1);
  EXPECT_EQ(ReasonOf(WaitForState(*job, VideoState::kFailed).error), Reason::kStoreFull);
  Settle();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() + "/media"));
}

}  // namespace
}  // namespace reel::front
