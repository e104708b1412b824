// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/video_convert.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "tests/fakes/scripted_job.h"

namespace reel::front {
namespace {

using google::protobuf::util::MessageDifferencer;

Video Full() {
  Video video;
  video.id = "r1-abc";
  video.tenant = "blue";
  video.state = VideoState::kFailed;
  video.spec.model = "m";
  video.spec.prompt = "a boat";
  video.spec.width = 64;
  video.create_time = absl::FromUnixMillis(1'700'000'000'123);
  video.start_time = video.create_time + absl::Seconds(1);
  video.end_time = video.create_time + absl::Seconds(2);
  video.expire_time = video.create_time + absl::Hours(1);
  video.deadline = video.create_time + absl::Minutes(1);
  video.progress = {model::Stage::kDenoise, 3, 30, 0.1, absl::Milliseconds(1500), 2};
  video.error = MakeError(Reason::kWorkerLost, "The worker was lost");
  video.media = {"video/mp4", 1000, "ab", absl::Seconds(2)};
  video.stats.emplace();
  video.stats->device = "cpu";
  video.stats->restarts = 1;
  video.request_id = "123e4567-e89b-12d3-a456-426614174000";
  video.priority = Priority::kLow;
  video.labels = {{"a", "b"}};
  video.attempt = 2;
  video.worker = "cpu";
  video.trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
  video.notices = {{"PROMPT_CUT", "The prompt was cut"}};
  video.spec.source =
      model::Source{"videos/r1-draft", model::Source::Begin::kPromote, "cd", nullptr};
  video.kept = KeptState{7, "ef", video.create_time + absl::Minutes(30)};
  video.continued_by = {"videos/r1-def"};
  return video;
}

TEST(VideoConvert, EveryFieldOfAFullVideoIsSet) {
  const v1::Video proto = VideoToProto(Full());
  const auto* descriptor = v1::Video::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const auto* field = descriptor->field(i);
    const bool set = field->is_repeated() ? proto.GetReflection()->FieldSize(proto, field) > 0
                                          : proto.GetReflection()->HasField(proto, field);
    EXPECT_TRUE(set) << field->name();
  }
}

TEST(VideoConvert, ComesBackAsItWas) {
  const v1::Video proto = VideoToProto(Full());
  const Video back = VideoFromProto(proto);
  EXPECT_TRUE(MessageDifferencer::Equals(VideoToProto(back), proto));
  EXPECT_EQ(back.error, Full().error);
  EXPECT_EQ(back.kept, Full().kept);
  EXPECT_EQ(back.create_time, Full().create_time);
  EXPECT_EQ(ReasonOf(back.error), Reason::kWorkerLost);
}

TEST(VideoConvert, WhatHasNotHappenedIsNotSet) {
  const v1::Video proto = VideoToProto(Video{});
  EXPECT_TRUE(proto.name().empty());
  EXPECT_FALSE(proto.has_create_time());
  EXPECT_FALSE(proto.has_deadline());
  EXPECT_FALSE(proto.has_error());
  EXPECT_FALSE(proto.has_stats());
  const Video back = VideoFromProto(proto);
  EXPECT_EQ(back.start_time, absl::InfinitePast());
  EXPECT_TRUE(back.error.ok());
}

TEST(VideoConvert, EveryStateComesBack) {
  for (const VideoState state : {VideoState::kQueued, VideoState::kRunning, VideoState::kSucceeded,
                                 VideoState::kFailed, VideoState::kCancelled}) {
    EXPECT_EQ(StateFromProto(EnumToProto<v1::VideoState>(state)), state);
  }
}

TEST(VideoConvert, ListsCutPromptsAtACharactersEdgeAndShowNoStatistics) {
  Video video = Full();
  video.spec.prompt = std::string(255, 'a') + "\u00e4\u00e4";
  const v1::Video proto = VideoToListProto(video);
  EXPECT_EQ(proto.spec().prompt(), std::string(255, 'a'));
  EXPECT_FALSE(proto.has_stats());
  EXPECT_TRUE(proto.has_media());
}

TEST(VideoConvert, ConditionBytesNeverLeave) {
  Video video = Full();
  model::Condition condition;
  condition.bytes = std::make_shared<const std::string>("secret pixels");
  condition.size_bytes = 13;
  video.spec.conditions.push_back(condition);
  EXPECT_EQ(VideoToProto(video).SerializeAsString().find("secret pixels"), std::string::npos);
}

TEST(VideoConvert, RemainingIsNeverNegative) {
  Video video;
  video.progress.remaining = absl::Seconds(-5);
  EXPECT_EQ(VideoToProto(video).progress().remaining().seconds(), 0);
}

TEST(VideoConvert, StatisticsNameTheArmThatChoseTheKernels) {
  Video video = Full();
  video.spec.kernels.experiment = "norms";
  video.spec.kernels.arm = "new";
  EXPECT_EQ(VideoToProto(video).stats().experiment(), "norms");
  EXPECT_EQ(VideoToProto(video).stats().arm(), "new");
  video.spec.kernels = {};
  video.spec.kernels.experiment = "-";
  EXPECT_EQ(VideoToProto(video).stats().experiment(), "");
}

TEST(VideoConvert, EntriesOfALogComeBackAsTheyWere) {
  const absl::Time time = absl::FromUnixSeconds(1'700'000'000);
  Progress progress;
  progress.stage = model::Stage::kDenoise;
  progress.step = 3;
  progress.num_steps = 8;
  progress.fraction = 0.5;
  progress.remaining = absl::Seconds(7);
  const std::vector<LogEntry> entries = {{1, time, AcceptedEvent{}},
                                         {2, time, ProgressEvent{progress}},
                                         {3, time, PreviewEvent{4, "jpeg", 32, 48}},
                                         {5, time, RestartedEvent{"WORKER_LOST", 2}},
                                         {9, time, FinishedEvent{}}};
  const ScriptedJob job{Video()};
  for (const LogEntry& entry : entries) {
    v1::VideoEvent proto = EntryToProto(entry, job);
    const auto back = EntryFromProto(proto);
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(back->sequence, entry.sequence);
    EXPECT_EQ(back->time, time);
    EXPECT_EQ(EntryToProto(*back, job).SerializeAsString(),
              EntryToProto(entry, job).SerializeAsString());
  }
  v1::VideoEvent media;
  media.mutable_media();
  EXPECT_FALSE(EntryFromProto(media).has_value());
}

TEST(CutUtf8, NeverCutsACharacter) {
  EXPECT_EQ(CutUtf8("abc", 3), "abc");
  EXPECT_EQ(CutUtf8("abc", 2), "ab");
  EXPECT_EQ(CutUtf8("\u00e4\u00e4", 3), "\u00e4");
  EXPECT_EQ(CutUtf8("\u20ac", 2), "");
  EXPECT_EQ(CutUtf8("", 0), "");
}

}  // namespace
}  // namespace reel::front
