// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <variant>

#include "server/errors/error.h"
#include "server/front/jobs/endings.h"

namespace reel::front {
namespace {

std::map<std::string, Field::Value> EndOf(const Video& video) {
  std::map<std::string, Field::Value> fields;
  for (const Field& field : EndFields(video)) {
    EXPECT_TRUE(fields.emplace(field.key, field.value).second) << field.key << " twice";
  }
  return fields;
}

std::string TextOf(const std::map<std::string, Field::Value>& fields, const std::string& key) {
  return std::get<std::string>(fields.at(key));
}

Video EndedVideo(VideoState state, absl::Status error = absl::OkStatus()) {
  Video video;
  video.id = "local-a";
  video.tenant = "blue";
  video.state = state;
  video.error = std::move(error);
  video.spec.model = "testcard";
  video.spec.width = 512;
  video.spec.height = 320;
  video.spec.num_frames = 25;
  video.spec.num_inference_steps = 30;
  video.request_id = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
  video.trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
  return video;
}

TEST(EndLog, NamesTheAdaptersOfAVideoThatHasAny) {
  Video video = EndedVideo(VideoState::kCancelled);
  EXPECT_FALSE(EndOf(video).contains("adapters"));
  video.spec.adapters = {{"grain", 0.5}, {"turn", -1}};
  EXPECT_EQ(TextOf(EndOf(video), "adapters"), "grain x 0.5, turn x -1");
}

TEST(EndLog, TellsTheBillOfAVideo) {
  Video video = EndedVideo(VideoState::kSucceeded);
  video.stats.emplace();
  video.stats->total = absl::Seconds(3);
  video.stats->device_seconds = 1.5;
  video.stats->parts = {{model::RunPart::kQueue, absl::Seconds(1)},
                        {model::RunPart::kDenoise, absl::Seconds(2)}};
  const auto fields = EndOf(video);
  EXPECT_EQ(TextOf(fields, "outcome"), "ok");
  EXPECT_EQ(TextOf(fields, "reason"), "");
  EXPECT_EQ(TextOf(fields, "shape"), "512x320x25");
  EXPECT_EQ(TextOf(fields, "trace_id"), video.trace_id);
  EXPECT_EQ(TextOf(fields, "request_id"), video.request_id);
  EXPECT_NE(TextOf(fields, "tenant"), "blue");
  EXPECT_EQ(std::get<double>(fields.at("duration")), 3);
  EXPECT_EQ(std::get<double>(fields.at("device_seconds")), 1.5);
  EXPECT_EQ(std::get<double>(fields.at("queue")), 1);
  EXPECT_EQ(std::get<double>(fields.at("denoise")), 2);
  EXPECT_EQ(fields.count("decode"), 0u);
}

TEST(EndLog, TellsTheStepsThatWereMadeAndElseThoseThatWereAskedFor) {
  Video video = EndedVideo(VideoState::kCancelled);
  const auto steps = [&] { return std::get<int64_t>(EndOf(video).at("steps")); };
  EXPECT_EQ(steps(), 30);
  video.stats.emplace();
  EXPECT_EQ(steps(), 30);
  video.stats->full_steps = 4;
  video.stats->reused_steps = 2;
  EXPECT_EQ(steps(), 6);
}

TEST(EndLog, TellsTheEnergyOrLeavesItOut) {
  Video video = EndedVideo(VideoState::kSucceeded);
  video.stats.emplace();
  EXPECT_EQ(EndOf(video).count("energy_joules"), 0u);
  video.stats->energy_joules = 812.5;
  EXPECT_EQ(std::get<double>(EndOf(video).at("energy_joules")), 812.5);
}

TEST(EndLog, TellsHowItEnded) {
  const struct {
    VideoState state;
    Reason reason;
    const char *outcome, *name;
  } ends[] = {
      {VideoState::kCancelled, Reason::kCancelledByOwner, "cancelled", "CANCELLED_BY_OWNER"},
      {VideoState::kFailed, Reason::kDeadlinePassed, "deadline", "DEADLINE_PASSED"},
      {VideoState::kFailed, Reason::kNumericalFault, "failed", "NUMERICAL_FAULT"}};
  for (const auto& end : ends) {
    const auto fields = EndOf(EndedVideo(end.state, MakeError(end.reason, "a fox in the snow")));
    EXPECT_EQ(TextOf(fields, "outcome"), end.outcome);
    EXPECT_EQ(TextOf(fields, "reason"), end.name);
  }
}

TEST(EndLog, HoldsNothingThatACallerWrote) {
  Video video = EndedVideo(VideoState::kFailed, MakeError(Reason::kInternal, "canary of an error"));
  video.spec.prompt = "canary of a prompt";
  video.spec.negative_prompt = video.spec.prompt;
  video.labels["canary-key"] = "canary of a label";
  video.tenant = "canary-tenant";
  for (const auto& [key, value] : EndOf(video)) {
    EXPECT_EQ(key.find("canary"), std::string::npos);
    const auto* text = std::get_if<std::string>(&value);
    EXPECT_TRUE(text == nullptr || text->find("canary") == std::string::npos) << key;
  }
}

}  // namespace
}  // namespace reel::front
