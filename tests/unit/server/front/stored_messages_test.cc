// SPDX-License-Identifier: Apache-2.0
#include "server/front/stored_messages.h"

#include <gtest/gtest.h>

#include "server/errors/error.h"

namespace reel::front {
namespace {

TEST(StoredMessages, VideosComeBackAsTheyWere) {
  const StoredMessages messages;
  Video video;
  video.id = "r0-abc";
  video.state = VideoState::kFailed;
  video.spec.prompt = "a boat";
  video.spec.seed = 7;
  video.create_time = absl::FromUnixMillis(1'700'000'000'123);
  video.error = MakeError(Reason::kWorkerLost, "The worker was lost");
  video.labels = {{"a", "b"}};
  video.attempt = 3;
  const auto back = messages.Parse(messages.Serialize(video));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->id, video.id);
  EXPECT_EQ(back->state, video.state);
  EXPECT_EQ(back->spec.prompt, "a boat");
  EXPECT_EQ(back->spec.seed, 7U);
  EXPECT_EQ(back->create_time, video.create_time);
  EXPECT_EQ(back->error, video.error);
  EXPECT_EQ(back->labels, video.labels);
  EXPECT_EQ(back->attempt, 3);
}

TEST(StoredMessages, CardsKeepDefaultsPresetsPassesAndCalls) {
  const StoredMessages messages;
  model::ModelCard card;
  card.name = "m";
  card.family = "test card";
  card.defaults.width = 256;
  card.presets = {{"fast", {}}};
  card.presets[0].values.num_inference_steps = 8;
  card.presets[0].passes = {{.steps = 3, .sides = {2, 1}}};
  card.calls = {{"rms_norm", "bf16", 2048}};
  card.limits.max_steps = 50;
  const auto back = messages.ParseCard(messages.SerializeCard(card));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->name, "m");
  EXPECT_EQ(back->family, "test card");
  EXPECT_EQ(back->defaults.width, 256);
  EXPECT_EQ(back->presets.at(0).values.num_inference_steps, 8);
  EXPECT_EQ(back->presets.at(0).passes, card.presets[0].passes);
  EXPECT_EQ(back->calls.at(0).width, 2048);
  EXPECT_EQ(back->limits.max_steps, 50);
}

TEST(StoredMessages, DamagedBytesAreDataLoss) {
  const StoredMessages messages;
  EXPECT_EQ(messages.Parse("\xff\xff\xff").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(messages.ParseCard("\xff\xff\xff").status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace reel::front
