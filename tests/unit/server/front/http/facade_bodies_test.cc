// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/facade_bodies.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "server/errors/error.h"
#include "tests/fakes/scripted_job.h"

namespace reel::front {
namespace {

std::shared_ptr<ScriptedJob> RunningJob() {
  Video video;
  video.id = "lab-1";
  auto job = std::make_shared<ScriptedJob>(video);
  job->Progress(1);
  return job;
}

TEST(VideosOnceFinal, WaitsForTheEndOrTheTime) {
  for (const bool late : {false, true}) {
    const auto job = RunningJob();
    VideosOnceFinal body({job}, JsonReply(""), "");
    std::string bytes;
    absl::Status end;
    EXPECT_EQ(body.Next(bytes, end), StreamStep::kWait);
    if (late) {
      EXPECT_TRUE(body.Late().ok());
    } else {
      job->Succeed();
    }
    ASSERT_EQ(body.Next(bytes, end), StreamStep::kMessage);
    EXPECT_EQ(body.Length(), static_cast<int64_t>(bytes.size()));
    EXPECT_EQ(nlohmann::json::parse(bytes)["status"], late ? "in_progress" : "completed");
    EXPECT_EQ(body.Next(bytes, end), StreamStep::kEnd);
    EXPECT_TRUE(end.ok());
  }
}

TEST(VideosOnceFinal, OfSeveralWaitsForTheLast) {
  const auto first = RunningJob(), second = RunningJob();
  VideosOnceFinal body({first, second}, JsonReply(""), "");
  std::string bytes;
  absl::Status end;
  first->Succeed();
  EXPECT_EQ(body.Next(bytes, end), StreamStep::kWait);
  second->Succeed();
  ASSERT_EQ(body.Next(bytes, end), StreamStep::kMessage);
  const auto reply = nlohmann::json::parse(bytes);
  EXPECT_EQ(reply["num_outputs"], 2);
  EXPECT_EQ(reply["videos"][1]["status"], "completed");
}

TEST(VideosOnceFinal, SayOfAJoinedVideoHowLongItsFileIs) {
  Video video;
  video.id = "lab-1";
  video.spec.num_frames = 97;
  video.spec.frame_rate = 24;
  video.spec.source = model::Source{.video = "videos/v", .begin = model::Source::Begin::kExtend};
  video.spec.source->extend = {72, 25, true, 120};
  const auto job = std::make_shared<ScriptedJob>(video);
  job->Progress(1);
  job->Succeed();
  VideosOnceFinal body({job}, JsonReply(""), "");
  std::string bytes;
  absl::Status end;
  ASSERT_EQ(body.Next(bytes, end), StreamStep::kMessage);
  const auto shown = nlohmann::json::parse(bytes);
  EXPECT_EQ(shown["num_frames"], 192);
  EXPECT_EQ(shown["duration_s"], 8.0);
  EXPECT_EQ(shown["seconds"], "8");
}

TEST(FinishedMedia, SaysNothingBeforeTheEnd) {
  const auto job = RunningJob();
  MediaAsk ask;
  ask.id = "lab-1";
  FinishedMedia body(job, ask);
  std::string bytes;
  absl::Status end;
  job->Media("abc");
  EXPECT_EQ(body.Next(bytes, end), StreamStep::kWait);
  job->Succeed();
  ASSERT_EQ(body.Next(bytes, end), StreamStep::kMessage);
  EXPECT_EQ(bytes, "abc");
  EXPECT_EQ(body.Length(), 3);
  EXPECT_EQ(body.Next(bytes, end), StreamStep::kEnd);
  EXPECT_TRUE(end.ok());
}

TEST(FinishedMedia, AFailureIsTheReply) {
  const auto job = RunningJob();
  FinishedMedia body(job, MediaAsk());
  job->End(VideoState::kFailed, MakeError(Reason::kWorkerLost, "lost"));
  std::string bytes;
  absl::Status end;
  EXPECT_EQ(body.Next(bytes, end), StreamStep::kEnd);
  EXPECT_EQ(ReasonOf(end), Reason::kWorkerLost);
}

}  // namespace
}  // namespace reel::front
