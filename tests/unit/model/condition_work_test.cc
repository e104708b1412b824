// SPDX-License-Identifier: Apache-2.0
// Pictures and clips as the card's memory formula counts them.
#include "model/condition_work.h"

#include <gtest/gtest.h>

#include "model/pass_work.h"
#include "tests/unit/model/example_card.h"

namespace reel::model {
namespace {

// 8x4 latents a frame, 61 latent frames.
GenerationSpec LongFilm() {
  GenerationSpec spec;
  spec.width = 256;
  spec.height = 128;
  spec.num_frames = 481;
  spec.frame_rate = 24;
  return spec;
}

void AddCondition(GenerationSpec& spec, Condition::Kind kind, Condition::Use use,
                  int frame_index = 0) {
  Condition condition;
  condition.kind = kind;
  condition.use = use;
  condition.frame_index = frame_index;
  spec.conditions.push_back(condition);
}

constexpr auto kImage = Condition::Kind::kImage, kVideo = Condition::Kind::kVideo;
constexpr auto kFollowed = Condition::Use::kFrames;

TEST(ConditionWork, OfPicturesIsOneFrameAndTokensOfThoseInsideTheVideo) {
  GenerationSpec spec = LongFilm();
  EXPECT_EQ(ConditionWorkOf(spec, ExampleCard()), ConditionWork());
  AddCondition(spec, kImage, kFollowed);
  EXPECT_EQ(ConditionWorkOf(spec, ExampleCard()), (ConditionWork{.pixels = 256 * 128 * 3}));
  AddCondition(spec, kImage, kFollowed, 473);
  AddCondition(spec, Condition::Kind::kAudio, kFollowed);
  EXPECT_EQ(ConditionWorkOf(spec, ExampleCard()),
            (ConditionWork{.pixels = 256 * 128 * 3, .added_tokens = 8 * 4}));
}

TEST(ConditionWork, OfClipsIsAllThatTheyMayHaveUpToTheVideosEnd) {
  GenerationSpec spec = LongFilm();
  AddCondition(spec, kVideo, kFollowed);
  EXPECT_EQ(ConditionWorkOf(spec, ExampleCard()), (ConditionWork{.pixels = 256 * 128 * 483}));
  spec = LongFilm();
  AddCondition(spec, kVideo, kFollowed, 456);
  EXPECT_EQ(ConditionWorkOf(spec, ExampleCard()),
            (ConditionWork{.pixels = 256 * 128 * 27, .added_tokens = 4 * 8 * 4}));
}

TEST(ConditionWork, OfLongClipsIsNoMoreThanAWorkerDecodes) {
  GenerationSpec spec = LongFilm();
  spec.width = 1920;
  spec.height = 1088;
  constexpr int64_t kFrame = 1920 * 1088;
  constexpr int64_t kMost = 171;  // of three bytes a pixel in 1 GiB
  ASSERT_LE(kMost * kFrame * 3, kMostConditionBytes);
  ASSERT_GT((kMost + 1) * kFrame * 3, kMostConditionBytes);
  AddCondition(spec, kVideo, kFollowed, 8);
  EXPECT_EQ(ConditionWorkOf(spec, ExampleCard()),
            (ConditionWork{.pixels = kFrame * (kMost + 2), .added_tokens = 22 * 60 * 34}));
  spec.num_frames = 8 + 97;
  EXPECT_EQ(ConditionWorkOf(spec, ExampleCard()),
            (ConditionWork{.pixels = kFrame * (97 + 2), .added_tokens = 13 * 60 * 34}));
}

TEST(ConditionWork, OfAReferenceIsThatOfItsOwnSize) {
  ModelCard card = ExampleCard();
  card.takes_references = true;
  card.adapters = {{.name = "pose", .sha256 = "s", .rank = 16, .reference = ReferenceScale{2, 1}}};
  GenerationSpec spec = LongFilm();
  spec.adapters = {{"pose", 1}};
  AddCondition(spec, kVideo, Condition::Use::kReference);
  EXPECT_EQ(ConditionWorkOf(spec, card), (ConditionWork{.pixels = 128 * 64 * 483}));
  spec.width = 4096;
  spec.height = 2048;
  EXPECT_EQ(ConditionWorkOf(spec, card), (ConditionWork{.pixels = 2048 * 1024 * (170 + 2)}));
}

TEST(ConditionWork, OfARefinedClipIsAPieceForTheEncoderAndAllOfItForTheUpsampler) {
  GenerationSpec spec = LongFilm();
  spec.preset = "twice";
  AddCondition(spec, kVideo, Condition::Use::kRefine);
  const ModelCard card = ExampleCard();
  const PassWork first = AllPassesOf(spec, card).front(), last = AllPassesOf(spec, card).back();
  const ConditionWork work = ConditionWorkOf(spec, card);
  EXPECT_EQ(work.pixels, int64_t{first.width} * first.height * (19 * 8 + 3));
  EXPECT_EQ(work.upsampled_tokens, 61 * (last.width / 32) * (last.height / 32));
  EXPECT_EQ(work.added_tokens, 0);
  spec.num_frames = 17;
  EXPECT_EQ(ConditionWorkOf(spec, card).pixels, int64_t{first.width} * first.height * 19);
}

TEST(PeakMemoryOfARequest, TakesAllFromItsCard) {
  ModelCard card = ExampleCard();
  card.memory = {.step_row = 1, .encode_pixel = 5};
  GenerationSpec spec = LongFilm();
  const int64_t plain = PeakMemoryOf(spec, card);
  EXPECT_EQ(plain, 61 * 8 * 4);
  AddCondition(spec, kVideo, kFollowed);
  EXPECT_EQ(PeakMemoryOf(spec, card), 5 * 256 * 128 * 483);
}

}  // namespace
}  // namespace reel::model
