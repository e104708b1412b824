// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/event_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tests/fakes/scripted_job.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

struct SeenEvent {
  std::string name, data;
  uint64_t id = 0;
};

std::vector<SeenEvent> SplitEvents(const std::string& text) {
  std::vector<SeenEvent> events;
  for (const absl::string_view block : absl::StrSplit(text, "\n\n", absl::SkipEmpty())) {
    SeenEvent event;
    for (absl::string_view line : absl::StrSplit(block, '\n')) {
      if (absl::ConsumePrefix(&line, "event: ")) event.name = std::string(line);
      if (absl::ConsumePrefix(&line, "data: ")) event.data = std::string(line);
      if (absl::ConsumePrefix(&line, "id: ")) {
        EXPECT_TRUE(absl::SimpleAtoi(line, &event.id));
      }
    }
    if (!event.name.empty()) events.push_back(event);
  }
  return events;
}

std::shared_ptr<ScriptedJob> NewScript() {
  Video video;
  video.id = "lab-1";
  return std::make_shared<ScriptedJob>(video);
}

// All that there is now.
std::string DrainBody(DoorBody& body, bool* ended = nullptr) {
  std::string all;
  for (;;) {
    std::string bytes;
    absl::Status end;
    const StreamStep step = body.Next(bytes, end);
    if (step == StreamStep::kMessage) {
      all += bytes;
      continue;
    }
    if (step == StreamStep::kEnd) {
      EXPECT_TRUE(end.ok()) << end;
    }
    if (ended != nullptr) *ended = step == StreamStep::kEnd;
    return all;
  }
}

std::vector<std::string> NamesOf(const std::vector<SeenEvent>& events) {
  std::vector<std::string> names;
  for (const SeenEvent& event : events) names.push_back(event.name);
  return names;
}

TEST(EventBody, IsLookedAtWhereSocketsAreWaitedForUntilItsVideoEnds) {
  const auto job = NewScript();
  EventBody body(job, {}, std::make_shared<ProgressTexts>());
  EXPECT_FALSE(body.at_hand());
  job->Progress(1);
  DrainBody(body);
  EXPECT_TRUE(body.at_hand());
  job->Succeed();
  EXPECT_FALSE(body.at_hand());
}

TEST(EventBody, TellsALifeInOrder) {
  const auto job = NewScript();
  EventBody body(job, {}, std::make_shared<ProgressTexts>());
  job->Progress(1);
  job->Media("abc");
  job->Preview(1);
  bool ended = false;
  std::string text = DrainBody(body, &ended);
  EXPECT_FALSE(ended);
  EXPECT_THAT(text, StartsWith("retry: 2000\n\n"));
  job->Media("def", false);
  job->Succeed();
  text += DrainBody(body, &ended);
  EXPECT_TRUE(ended);
  const auto events = SplitEvents(text);
  EXPECT_THAT(NamesOf(events),
              ElementsAre("accepted", "media", "progress", "preview", "media", "finished"));
  EXPECT_EQ(events[0].id, 1U);
  uint64_t last = 0;
  for (const SeenEvent& event : events) {
    const auto data = nlohmann::json::parse(event.data);
    EXPECT_EQ(data.size(), 1U);
    EXPECT_TRUE(data.contains(event.name)) << event.data;
    if (event.id != 0) {
      EXPECT_GT(event.id, last);
    }
    if (event.id != 0) last = event.id;
  }
  const auto first = nlohmann::json::parse(events[1].data)["media"];
  EXPECT_EQ(first["offset"], "0");
  EXPECT_EQ(first["size"], "3");
  EXPECT_EQ(first["fragmentEnd"], true);
  EXPECT_EQ(first["attempt"], 1);
  EXPECT_EQ(first["contentType"], "video/mp4; codecs=\"avc1.64000d\"");
  const auto second = nlohmann::json::parse(events[4].data)["media"];
  EXPECT_EQ(second["offset"], "3");
  EXPECT_EQ(second["size"], "6");
  EXPECT_EQ(second["fragmentEnd"], false);
}

TEST(EventBody, AReplayNeverSendsTheIdBack) {
  const auto job = NewScript();
  for (int step = 1; step <= 5; ++step) job->Progress(step);
  EventBody body(job, {7, true}, std::make_shared<ProgressTexts>());
  const auto events = SplitEvents(DrainBody(body));
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events[0].name, "accepted");
  EXPECT_EQ(events[0].id, 0U);
  for (const SeenEvent& event : events) {
    if (event.id != 0) {
      EXPECT_GT(event.id, 7U);
    }
  }
  EXPECT_EQ(events.size(), 4U);  // those behind 7, with `accepted` before them
}

// Cut after each event in turn: every durable one comes exactly once.
TEST(EventBody, ResumesAtEveryPoint) {
  const auto job = NewScript();
  job->Progress(1);
  job->Restart("WORKER_LOST");
  job->Media("abcdef");
  job->Progress(2);
  job->Succeed();
  EventBody whole(job, {}, std::make_shared<ProgressTexts>());
  const auto events = SplitEvents(DrainBody(whole));
  uint64_t last = 0;
  for (size_t cut = 0; cut < events.size(); ++cut) {
    last = std::max(last, events[cut].id);
    if (NothingFollows(*job, last)) {
      EXPECT_EQ(events[cut].name, "finished");
      continue;
    }
    EventBody rest(job, {last, true}, std::make_shared<ProgressTexts>());
    const auto after = SplitEvents(DrainBody(rest));
    std::vector<uint64_t> expected;
    for (size_t i = cut + 1; i < events.size(); ++i) {
      if (events[i].id > last) expected.push_back(events[i].id);
    }
    std::vector<uint64_t> seen;
    for (const SeenEvent& event : after) {
      if (event.id != 0) seen.push_back(event.id);
    }
    EXPECT_EQ(seen, expected) << "cut behind " << events[cut].name;
    EXPECT_EQ(after.back().name, "finished");
  }
  EXPECT_TRUE(NothingFollows(*job, last));
}

TEST(EventBody, FailureIsAnEventWithTheVideosError) {
  const auto job = NewScript();
  job->Progress(1);
  EXPECT_FALSE(NothingFollows(*job, 1'000'000));
  job->End(VideoState::kFailed, MakeError(Reason::kWorkerLost, "The worker was lost"));
  EventBody body(job, {1'000'000, true}, std::make_shared<ProgressTexts>());
  bool ended = false;
  const auto events = SplitEvents(DrainBody(body, &ended));
  EXPECT_TRUE(ended);
  EXPECT_EQ(events.back().name, "failed");
  EXPECT_EQ(events.back().id, kFailedEventId);
  const auto error = nlohmann::json::parse(events.back().data)["error"];
  EXPECT_EQ(error["details"][0]["reason"], "WORKER_LOST");
  EXPECT_EQ(error["details"][0]["metadata"]["video"], "videos/lab-1");
  EXPECT_FALSE(NothingFollows(*job, 1'000'000));
  EXPECT_TRUE(NothingFollows(*job, kFailedEventId));
}

TEST(EventBody, ARestartTellsTheNewFileFromItsStart) {
  const auto job = NewScript();
  EventBody body(job, {}, std::make_shared<ProgressTexts>());
  job->Media("abc");
  std::string text = DrainBody(body);
  job->Restart("WORKER_LOST");
  job->Media("vwxyz");
  text += DrainBody(body);
  const auto events = SplitEvents(text);
  EXPECT_THAT(NamesOf(events), ElementsAre("accepted", "media", "restarted", "media"));
  const auto media = nlohmann::json::parse(events[3].data)["media"];
  EXPECT_EQ(media["offset"], "0");
  EXPECT_EQ(media["size"], "5");
  EXPECT_EQ(media["attempt"], 2);
}

TEST(EventBody, PreviewsCanBeLeftOut) {
  const auto job = NewScript();
  job->Preview(1);
  job->Progress(2);
  EventBody body(job, {0, false}, std::make_shared<ProgressTexts>());
  EXPECT_THAT(NamesOf(SplitEvents(DrainBody(body))), ElementsAre("accepted", "progress"));
}

TEST(EventBody, TheEndWaitsForBytesThatAreOnTheirWay) {
  auto script = NewScript();
  script->Media("abc");
  script->Media("def");
  script->Succeed();
  script->HoldBack(3);
  EventBody body(script, EventsAsk{}, std::make_shared<ProgressTexts>());
  EXPECT_THAT(NamesOf(SplitEvents(DrainBody(body))), ElementsAre("accepted"));
  script->HoldBack(6);
  bool ended = false;
  EXPECT_THAT(NamesOf(SplitEvents(DrainBody(body, &ended))), ElementsAre("media", "finished"));
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace reel::front
