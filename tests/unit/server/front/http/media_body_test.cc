// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/media_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "server/errors/error.h"
#include "tests/fakes/scripted_job.h"

namespace reel::front {
namespace {

constexpr char kAlphabet[] = "abcdefghijklmnopqrstuvwxyz";

std::shared_ptr<ScriptedJob> JobWith(const std::string& bytes, bool finished) {
  Video video;
  video.id = "lab-1";
  auto job = std::make_shared<ScriptedJob>(video);
  job->Progress(1);
  if (!bytes.empty()) job->Media(bytes);
  if (finished) job->Succeed();
  return job;
}

MediaAsk AskFor(const std::string& range, const std::string& if_range = "", int attempt = 0) {
  MediaAsk ask;
  ask.id = "lab-1";
  ask.range = ParseByteRange(range);
  ask.if_range = if_range;
  ask.attempt = attempt;
  return ask;
}

struct SeenBody {
  std::string bytes;
  absl::Status end;
  bool waits = false, any = false;
  DoorReply head;
  int64_t length = 0;
  std::string Value(const std::string& name) const {
    for (const DoorField& field : head.fields) {
      if (field.name == name) return field.value;
    }
    return "";
  }
};

SeenBody ReadAll(MediaBody& body) {
  SeenBody seen;
  for (;;) {
    std::string bytes;
    const StreamStep step = body.Next(bytes, seen.end);
    seen.waits = step == StreamStep::kWait;
    if (step != StreamStep::kMessage) break;
    if (!seen.any) {
      seen.head = body.Head();
      seen.length = body.Length();
    }
    seen.any = true;
    seen.bytes += bytes;
  }
  return seen;
}

std::string NameOfEnd(const SeenBody& seen) {
  const auto reason = ReasonOf(seen.end);
  return reason ? std::string(Describe(*reason).name) : std::string(seen.end.message());
}

TEST(MediaBody, AFinishedFileComesInRanges) {
  const auto job = JobWith(kAlphabet, true);
  struct Case {
    const char *range, *if_range, *content_range, *bytes;
  };
  for (const Case& c :
       {Case{"", "", "", kAlphabet}, Case{"bytes=0-", "", "bytes 0-25/26", kAlphabet},
        Case{"bytes=3-5", "", "bytes 3-5/26", "def"}, Case{"bytes=25-", "", "bytes 25-25/26", "z"},
        Case{"bytes=20-99", "", "bytes 20-25/26", "uvwxyz"},
        Case{"bytes=20-9007199254740991", "", "bytes 20-25/26", "uvwxyz"},
        Case{"bytes=-2", "", "bytes 24-25/26", "yz"},
        Case{"bytes=-99", "", "bytes 0-25/26", kAlphabet},
        Case{"bytes=3-5", "\"feed\"", "bytes 3-5/26", "def"},
        Case{"bytes=3-5", "\"lab-1.1\"", "", kAlphabet},
        Case{"bytes=3-5", "W/\"feed\"", "", kAlphabet}, Case{"bytes=0-1,3-4", "", "", kAlphabet}}) {
    MediaBody body(job, AskFor(c.range, c.if_range));
    const SeenBody seen = ReadAll(body);
    EXPECT_TRUE(seen.end.ok()) << c.range << seen.end;
    EXPECT_EQ(seen.bytes, c.bytes) << c.range;
    EXPECT_EQ(seen.length, static_cast<int64_t>(seen.bytes.size())) << c.range;
    EXPECT_EQ(seen.head.status, *c.content_range == '\0' ? 200 : 206) << c.range;
    EXPECT_EQ(seen.Value("Content-Range"), c.content_range) << c.range;
    EXPECT_EQ(seen.Value("ETag"), "\"feed\"");
    EXPECT_EQ(seen.Value("Accept-Ranges"), "bytes");
    EXPECT_EQ(seen.Value("Content-Disposition"), "inline; filename=\"reel-lab-1.mp4\"");
  }
}

TEST(MediaBody, AFinishedFileThatIsFarAwayIsWaitedFor) {
  const auto job = JobWith(kAlphabet, true);
  job->HoldBack(0);
  MediaBody body(job, AskFor("bytes=2-5"));
  EXPECT_TRUE(ReadAll(body).waits);
  job->HoldBack(26);
  EXPECT_EQ(ReadAll(body).bytes, "cdef");
}

TEST(MediaBody, ARangeWithoutBytesIsRefused) {
  for (const bool finished : {true, false}) {
    const auto job = JobWith(kAlphabet, finished);
    for (const char* range : {"bytes=26-", "bytes=99-100"}) {
      MediaBody body(job, AskFor(range));
      const SeenBody seen = ReadAll(body);
      EXPECT_FALSE(seen.any);
      EXPECT_EQ(NameOfEnd(seen), "OFFSET_PAST_END") << range;
    }
  }
  MediaBody none(JobWith(kAlphabet, true), AskFor("bytes=-0"));
  EXPECT_EQ(NameOfEnd(ReadAll(none)), "OFFSET_PAST_END");
}

TEST(MediaBody, AGrowingFileIsFollowedToItsEnd) {
  const auto job = JobWith("abc", false);
  MediaBody all(job, AskFor(""));
  MediaBody follows(job, AskFor("bytes=2-9007199254740991"));
  MediaBody now(job, AskFor("bytes=1-"));
  MediaBody some(job, AskFor("bytes=1-1"));
  SeenBody seen = ReadAll(all);
  EXPECT_EQ(seen.bytes, "abc");
  EXPECT_TRUE(seen.waits);
  EXPECT_EQ(seen.head.status, 200);
  EXPECT_EQ(seen.length, -1);
  EXPECT_EQ(seen.Value("ETag"), "\"lab-1.1\"");
  SeenBody followed = ReadAll(follows);
  EXPECT_EQ(followed.head.status, 206);
  EXPECT_EQ(followed.Value("Content-Range"), "bytes 2-9007199254740991/*");
  EXPECT_EQ(followed.length, -1);
  const SeenBody part = ReadAll(now);
  EXPECT_EQ(part.bytes, "bc");
  EXPECT_FALSE(part.waits);
  EXPECT_EQ(part.length, 2);
  EXPECT_EQ(part.Value("Content-Range"), "bytes 1-2/*");
  EXPECT_EQ(ReadAll(some).bytes, "b");
  job->Media("def");
  job->Succeed();
  const SeenBody rest = ReadAll(all);
  EXPECT_EQ(rest.bytes, "def");
  EXPECT_TRUE(rest.end.ok()) << rest.end;
  EXPECT_FALSE(rest.waits);
  EXPECT_EQ(followed.bytes + ReadAll(follows).bytes, "cdef");
}

TEST(MediaBody, AQueuedVideoIsWaitedFor) {
  const auto job = JobWith("", false);
  MediaBody body(job, AskFor("bytes=0-"));
  EXPECT_TRUE(ReadAll(body).waits);
  EXPECT_EQ(ReasonOf(body.Late()), Reason::kVideoNotReady);
  job->Media("abc");
  EXPECT_EQ(ReadAll(body).bytes, "abc");
}

TEST(MediaBody, NoBrokenFileEndsWell) {
  const auto restarted = JobWith("abc", false);
  MediaBody one(restarted, AskFor(""));
  ReadAll(one);
  restarted->Restart("WORKER_LOST");
  restarted->Media("xyzxyz");
  const SeenBody after = ReadAll(one);
  EXPECT_EQ(after.bytes, "");
  EXPECT_EQ(NameOfEnd(after), "OTHER_ATTEMPT");

  const auto failed = JobWith("abc", false);
  MediaBody two(failed, AskFor(""));
  ReadAll(two);
  failed->End(VideoState::kFailed, MakeError(Reason::kWorkerLost, "lost"));
  EXPECT_EQ(NameOfEnd(ReadAll(two)), "WORKER_LOST");

  MediaBody late(failed, AskFor(""));
  EXPECT_EQ(NameOfEnd(ReadAll(late)), "VIDEO_NOT_READY");
}

TEST(MediaBody, AnotherAttemptIsNotWhatWasAskedFor) {
  const auto job = JobWith("abc", true);
  MediaBody other(job, AskFor("", "", 2));
  EXPECT_EQ(NameOfEnd(ReadAll(other)), "OTHER_ATTEMPT");
  MediaBody own(job, AskFor("", "", 1));
  EXPECT_EQ(ReadAll(own).bytes, "abc");
}

TEST(MediaBody, AHeadHasTheFieldsAlone) {
  MediaAsk ask = AskFor("bytes=1-2");
  ask.head_only = true;
  MediaBody body(JobWith(kAlphabet, true), ask);
  const SeenBody seen = ReadAll(body);
  EXPECT_EQ(seen.bytes, "");
  EXPECT_EQ(seen.length, 2);
  EXPECT_EQ(seen.head.status, 206);
}

TEST(MediaBody, WaitsForBytesThatAreOnTheirWay) {
  const auto job = JobWith(kAlphabet, true);
  job->HoldBack(10);
  MediaBody body(job, AskFor("bytes=5-14"));
  const SeenBody first = ReadAll(body);
  EXPECT_EQ(first.bytes, "fghij");
  EXPECT_TRUE(first.waits);
  job->HoldBack(26);
  const SeenBody rest = ReadAll(body);
  EXPECT_EQ(rest.bytes, "klmno");
  EXPECT_TRUE(rest.end.ok());
  EXPECT_FALSE(rest.waits);
}

}  // namespace
}  // namespace reel::front
