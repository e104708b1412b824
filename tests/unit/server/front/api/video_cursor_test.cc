// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/video_cursor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/base/digest/crc32c.h"
#include "tests/fakes/scripted_job.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;

std::shared_ptr<ScriptedJob> NewScript() {
  Video video;
  video.id = "v";
  return std::make_shared<ScriptedJob>(video);
}

// What a reader sees, shortly: "accepted#1", "media#4:0+3!" (bytes from 0, 3 of them, fragment's
// end), and last the end: "wait", "end" or "end:REASON".
std::vector<std::string> Read(VideoCursor& cursor) {
  std::vector<std::string> seen;
  for (;;) {
    v1::VideoEvent event;
    absl::Status end;
    const StreamStep step = cursor.Next(event, end);
    const std::string number = "#" + std::to_string(event.sequence());
    if (step == StreamStep::kWait) {
      seen.push_back("wait");
      return seen;
    }
    if (step == StreamStep::kEnd) {
      const auto reason = ReasonOf(end);
      seen.push_back(end.ok() ? "end"
                              : "end:" + std::string(reason ? Describe(*reason).name : "none"));
      return seen;
    }
    if (event.has_accepted()) {
      seen.push_back("accepted" + number);
    } else if (event.has_progress()) {
      seen.push_back("progress" + number);
    } else if (event.has_preview()) {
      seen.push_back("preview" + number);
    } else if (event.has_restarted()) {
      seen.push_back("restarted" + number);
    } else if (event.has_finished()) {
      seen.push_back("finished" + number);
    } else {
      const v1::MediaChunk& chunk = event.media();
      EXPECT_EQ(chunk.crc32c(), Crc32c(chunk.data()));
      seen.push_back("media" + number + ":" + std::to_string(chunk.offset()) + "+" +
                     std::to_string(chunk.data().size()) + (chunk.fragment_end() ? "!" : "") +
                     (chunk.attempt() > 1 ? "@" + std::to_string(chunk.attempt()) : ""));
    }
  }
}

TEST(VideoCursor, TellsALifeInOrder) {
  auto job = NewScript();
  VideoCursor cursor(job, {});
  EXPECT_THAT(Read(cursor), ElementsAre("accepted#1", "wait"));
  job->Progress(1);
  EXPECT_THAT(Read(cursor), ElementsAre("progress#4", "wait"));
  job->Media("abc");
  job->Media("defg");
  EXPECT_THAT(Read(cursor), ElementsAre("media#4:0+3!", "media#4:3+4!", "wait"));
  job->Preview(2);
  job->Media("h", false);
  EXPECT_THAT(Read(cursor), ElementsAre("preview#7", "media#7:7+1", "wait"));
  job->Succeed();
  EXPECT_THAT(Read(cursor), ElementsAre("finished#10", "end"));
}

TEST(VideoCursor, AcceptedAndFinishedShowTheVideoAsItIsNow) {
  auto job = NewScript();
  job->Progress(1);
  job->Media("abc");
  VideoCursor cursor(job, {});
  v1::VideoEvent event;
  absl::Status end;
  ASSERT_EQ(cursor.Next(event, end), StreamStep::kMessage);
  EXPECT_EQ(event.accepted().state(), v1::VIDEO_STATE_RUNNING);
  job->Succeed();
  while (!event.has_finished()) ASSERT_EQ(cursor.Next(event, end), StreamStep::kMessage);
  EXPECT_EQ(event.finished().state(), v1::VIDEO_STATE_SUCCEEDED);
  EXPECT_EQ(event.finished().media().sha256(), "feed");
}

// A video may hold kilobytes of prompt and statistics; its stream may have thousands of messages.
TEST(VideoCursor, CopiesTheVideoForAcceptedAndFinishedOnly) {
  auto job = NewScript();
  for (int i = 0; i < 100; ++i) job->Progress(i);
  for (int i = 0; i < 100; ++i) job->Media("abc");
  job->Succeed();
  VideoCursor cursor(job, {});
  EXPECT_EQ(Read(cursor).size(), 1 + 100 + 100 + 1 + 1);
  EXPECT_EQ(job->snapshots(), 2);
}

TEST(VideoCursor, FinishedComesAfterTheLastByte) {
  auto job = NewScript();
  job->Progress(1);
  job->Media("abc");
  job->Media("def");
  job->Succeed();
  VideoCursor cursor(job, {});
  EXPECT_THAT(Read(cursor), ElementsAre("accepted#1", "progress#4", "media#4:0+3!", "media#4:3+3!",
                                        "finished#7", "end"));
}

TEST(VideoCursor, FinishedWaitsForBytesThatAreOnTheirWay) {
  auto job = NewScript();
  job->Media("abc");
  job->Succeed();
  job->HoldBack(0);
  VideoCursor cursor(job, {});
  EXPECT_THAT(Read(cursor), ElementsAre("accepted#1", "wait"));
  EXPECT_THAT(Read(cursor), ElementsAre("wait"));
  job->HoldBack(3);
  EXPECT_THAT(Read(cursor), ElementsAre("media#1:0+3!", "finished#4", "end"));
}

TEST(VideoCursor, WithoutMediaThereAreNoBytes) {
  auto job = NewScript();
  job->Media("abc");
  job->Succeed();
  WatchPoint from;
  from.without_media = true;
  VideoCursor cursor(job, from);
  EXPECT_THAT(Read(cursor), ElementsAre("accepted#1", "finished#4", "end"));
}

TEST(VideoCursor, ChunksEndWithTheirFragmentAndAreSmall) {
  auto job = NewScript();
  job->Media(std::string(kMaxChunkBytes + 10, 'a'));
  job->Media("b");
  job->Succeed();
  VideoCursor cursor(job, {});
  EXPECT_THAT(Read(cursor), ElementsAre("accepted#1", "media#1:0+262144", "media#1:262144+10!",
                                        "media#1:262154+1!", "finished#4", "end"));
}

TEST(VideoCursor, ResumesAfterASequenceAndAtAByte) {
  auto job = NewScript();
  job->Progress(1);
  job->Progress(2);
  job->Media("abcdef");
  VideoCursor cursor(job, {"v", 4, 2, 1, false});
  EXPECT_THAT(Read(cursor), ElementsAre("accepted#1", "progress#7", "media#7:2+4!", "wait"));
}

TEST(VideoCursor, ARestartVoidsTheBytes) {
  auto job = NewScript();
  job->Media("abc");
  VideoCursor cursor(job, {});
  EXPECT_THAT(Read(cursor), ElementsAre("accepted#1", "media#1:0+3!", "wait"));
  job->Restart("WORKER_LOST");
  job->Media("xy");
  EXPECT_THAT(Read(cursor), ElementsAre("restarted#4", "media#4:0+2!@2", "wait"));
}

TEST(VideoCursor, AReplayStartsTheBytesAfterTheRestart) {
  auto job = NewScript();
  job->Progress(1);
  job->Restart("WORKER_LOST");
  job->Media("xyz");
  job->Succeed();
  VideoCursor cursor(job, {});
  EXPECT_THAT(Read(cursor), ElementsAre("accepted#1", "progress#4", "restarted#7", "media#7:0+3!@2",
                                        "finished#10", "end"));
}

TEST(VideoCursor, AnOffsetCountsOnlyForItsAttempt) {
  auto job = NewScript();
  job->Restart("WORKER_LOST");
  job->Media("abcdef");
  for (const int attempt : {2, 0}) {  // 0: the current one
    VideoCursor same(job, {"v", 0, 4, attempt, false});
    EXPECT_THAT(Read(same), ElementsAre("accepted#1", "restarted#4", "media#4:4+2!@2", "wait"));
  }
  VideoCursor stale(job, {"v", 0, 4, 1, false});
  EXPECT_THAT(Read(stale), ElementsAre("accepted#1", "restarted#4", "media#4:0+6!@2", "wait"));
  VideoCursor beyond(job, {"v", 4, 4, 1, false});
  EXPECT_THAT(Read(beyond), ElementsAre("accepted#1", "media#4:0+6!@2", "wait"));
}

TEST(VideoCursor, AnOffsetBeyondARunningFileWaitsForIt) {
  auto job = NewScript();
  job->Media("abc");
  VideoCursor cursor(job, {"v", 0, 5, 1, false});
  EXPECT_THAT(Read(cursor), ElementsAre("accepted#1", "wait"));
  job->Media("defg");
  EXPECT_THAT(Read(cursor), ElementsAre("media#1:5+2!", "wait"));
}

TEST(VideoCursor, TheSizeItselfIsALegalOffset) {
  auto job = NewScript();
  job->Media("abc");
  job->Succeed();
  VideoCursor cursor(job, {"v", 0, 3, 1, false});
  EXPECT_THAT(Read(cursor), ElementsAre("accepted#1", "finished#4", "end"));
  VideoCursor past(job, {"v", 0, 4, 1, false});
  EXPECT_THAT(Read(past), ElementsAre("accepted#1", "end:OFFSET_PAST_END"));
}

TEST(VideoCursor, AReaderWhoKnowsTheEndHearsItAgain) {
  auto job = NewScript();
  job->Media("abc");
  job->Succeed();
  VideoCursor cursor(job, {"v", 1000, 3, 1, false});
  EXPECT_THAT(Read(cursor), ElementsAre("accepted#1", "finished#4", "end"));
}

TEST(VideoCursor, AFailureEndsWithItsStatusThatNamesTheVideo) {
  auto job = NewScript();
  job->Progress(1);
  job->Media("abc");
  job->End(VideoState::kFailed, MakeError(Reason::kWorkerLost, "The worker was lost"));
  VideoCursor cursor(job, {});
  EXPECT_THAT(Read(cursor), ElementsAre("accepted#1", "progress#4", "end:WORKER_LOST"));
  VideoCursor again(job, {});
  v1::VideoEvent event;
  absl::Status end;
  while (again.Next(event, end) == StreamStep::kMessage) {
  }
  EXPECT_NE(SerializeError(end).find("videos/v"), std::string::npos);
}

TEST(VideoCursor, ACancelledVideoEndsCancelled) {
  auto job = NewScript();
  VideoCursor cursor(job, {});
  EXPECT_THAT(Read(cursor), ElementsAre("accepted#1", "wait"));
  job->End(VideoState::kCancelled, MakeError(Reason::kCancelledByOwner, "Cancelled"));
  EXPECT_THAT(Read(cursor), ElementsAre("end:CANCELLED_BY_OWNER"));
}

TEST(VideoCursor, TheEndWaitsForBytesThatAreOnTheirWay) {
  auto script = NewScript();
  script->Media("abc");
  script->Media("def");
  script->Succeed();
  script->HoldBack(3);
  VideoCursor cursor(script, WatchPoint());
  EXPECT_THAT(Read(cursor), ElementsAre("accepted#1", "media#1:0+3!", "wait"));
  EXPECT_THAT(Read(cursor), ElementsAre("wait"));
  script->HoldBack(6);
  EXPECT_THAT(Read(cursor), ElementsAre("media#1:3+3!", "finished#4", "end"));
}

}  // namespace
}  // namespace reel::front
