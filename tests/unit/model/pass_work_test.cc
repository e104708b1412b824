// SPDX-License-Identifier: Apache-2.0
#include "model/pass_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/model/example_card.h"

namespace reel::model {
namespace {

using ::testing::ElementsAre;

// 7x5 latents, 3 latent frames, 40 steps.
GenerationSpec Spec(const std::string& preset = "") {
  GenerationSpec spec;
  spec.preset = preset;
  spec.width = 224;
  spec.height = 160;
  spec.num_frames = 17;
  spec.num_inference_steps = 40;
  spec.guidance_scale = 3;
  return spec;
}

TEST(PassesOf, IsOnePlainPassWhereThePresetSaysNothing) {
  const PassWork guided = {.width = 224, .height = 160, .tokens = 105, .rows = 210, .steps = 40};
  for (const char* preset : {"", "small", "unknown"}) {
    EXPECT_THAT(PassesOf(Spec(preset), ExampleCard()), ElementsAre(guided)) << preset;
  }
  GenerationSpec spec = Spec();
  spec.guidance_scale = 1;
  EXPECT_EQ(PassesOf(spec, ExampleCard())[0].rows, 105);
  spec.guidance_scale.reset();
  EXPECT_EQ(PassesOf(spec, ExampleCard())[0].rows, 105);
  // Which part of it a strength leaves is known of passes only that say so.
  spec.denoise_strength = 0.5;
  EXPECT_EQ(PassesOf(spec, ExampleCard())[0].steps, 40);
}

TEST(PeakMemoryOf, IsThatOfTheLargestPassOrOfTheDecodeWhicheverIsMore) {
  const std::vector<PassWork> passes = {{.tokens = 10, .rows = 30}, {.tokens = 20, .rows = 20}};
  EXPECT_EQ(PeakMemoryOf({.job = 1000, .token = 10, .step_row = 1}, {passes, 100}),
            1000 + 10 * 20 + 30);
  EXPECT_EQ(PeakMemoryOf({.job = 1000, .step_row = 1, .decode_pixel = 2}, {passes, 100}),
            1000 + 2 * 100);
  const MemoryCosts in_pieces = {.clip_pixel = 1, .decode_pixel = 2, .decode_pixels_at_once = 40};
  EXPECT_EQ(PeakMemoryOf(in_pieces, {passes, 100}), 100 + 2 * 40);
  EXPECT_EQ(PeakMemoryOf({}, {passes, 100}), 0);
}

TEST(PeakMemoryOf, AddsTheDecodeToTheStepWhereOneComesBetweenTheOther) {
  const std::vector<PassWork> passes = {{.width = 6, .height = 4, .tokens = 10, .rows = 30}};
  const MemoryCosts costs = {.step_row = 2, .frame_pixel = 7};
  EXPECT_EQ(PeakMemoryOf(costs, {passes, 0}), 7 * 24);
  EXPECT_EQ(PeakMemoryOf(costs, {passes, 0, DecodeTime::kBetweenSteps}), 2 * 30 + 7 * 24);
}

TEST(PeakMemoryOf, KnowsOfCallsOneAfterTheOtherAndOfDecodesOfOneLatentAtATime) {
  const std::vector<PassWork> passes = {{.tokens = 10, .rows = 40},
                                        {.width = 6, .height = 4, .tokens = 25, .rows = 25}};
  EXPECT_EQ(PeakMemoryOf({.step_row = 1}, {passes, 0}), 40);
  EXPECT_EQ(PeakMemoryOf({.step_row = 1, .rows_at_once = 2}, {passes, 0}), 25);
  EXPECT_EQ(PeakMemoryOf({.step_row = 1, .rows_at_once = 3}, {passes, 0}), 30);
  EXPECT_EQ(PeakMemoryOf({.frame_pixel = 7}, {passes, 1000}), 7 * 24);
}

TEST(PeakMemoryOf, KnowsOfWhatIsEncodedAndUpsampledAndOfTokensThatConditionsAdd) {
  const std::vector<PassWork> passes = {{.tokens = 10, .rows = 30}, {.tokens = 20, .rows = 20}};
  const auto peak = [&](const MemoryCosts& costs, const ConditionWork& conditions) {
    return PeakMemoryOf(costs, {.passes = passes, .conditions = conditions});
  };
  EXPECT_EQ(peak({.token = 1}, {.added_tokens = 4}), 24);
  EXPECT_EQ(peak({.step_row = 1}, {.added_tokens = 4}), 3 * 12) << "of both passes";
  EXPECT_EQ(peak({.step_row = 1, .encode_pixel = 2}, {.pixels = 50}), 100);
  EXPECT_EQ(peak({.step_row = 4, .encode_pixel = 2}, {.pixels = 50}), 120) << "one at a time";
  EXPECT_EQ(peak({.upsample_token = 3}, {}), 60) << "of a second pass";
  EXPECT_EQ(peak({.upsample_token = 3}, {.upsampled_tokens = 70}), 210);
  EXPECT_EQ(PeakMemoryOf({.upsample_token = 3}, {.passes = {passes[0]}}), 0);
}

TEST(RowsTaken, AreAllOfAStepForOneWithMoreThanHalf) {
  EXPECT_EQ(RowsTaken(50, 100), 50);
  EXPECT_EQ(RowsTaken(51, 100), 100);
  EXPECT_EQ(RowsTaken(500, 100), 500);
  EXPECT_EQ(RowsTaken(1, 1), 1);
  EXPECT_EQ(RowsTaken(7, 0), 7);
}

TEST(PassesOf, AddsARowForEachGuidanceOfAModelWithSound) {
  GenerationSpec spec = Spec();
  spec.guidance_scale = 1;
  const auto rows = [&] { return PassesOf(spec, ExampleCard())[0].rows / 105; };
  spec.audio_guidance_scale = 7;  // away from the negative prompt, which both share
  EXPECT_EQ(rows(), 2);
  spec.stg_scale = 1;
  EXPECT_EQ(rows(), 2);  // of no block
  spec.stg_blocks = {28};
  EXPECT_EQ(rows(), 3);
  spec.audio_modality_scale = 3;
  spec.modality_scale = 1;
  EXPECT_EQ(rows(), 4);
  spec.stg_scale = 0;
  EXPECT_EQ(rows(), 3);
}

TEST(PassesOf, ScalesEachPassFromTheOneBefore) {
  EXPECT_THAT(PassesOf(Spec("twice"), ExampleCard()),
              ElementsAre(PassWork{128, 96, 36, 3 * 36, 40}, PassWork{256, 192, 144, 2 * 144, 13}));
}

TEST(PassesOf, AddsARowForGuidanceWhereThePassFollowsIt) {
  GenerationSpec spec = Spec("twice");
  spec.guidance_scale = 1;
  const std::vector<PassWork> passes = PassesOf(spec, ExampleCard());
  EXPECT_EQ(passes[0].rows, 2 * 36);
  EXPECT_EQ(passes[1].rows, 2 * 144);
}

TEST(PassesOf, TakesTheRequestsScheduleAndStrengthWhereThePassFollowsThem) {
  GenerationSpec spec = Spec("twice");
  spec.num_inference_steps = 0;
  spec.timesteps = {1000, 900, 800, 700, 600, 500, 400};
  EXPECT_EQ(PassesOf(spec, ExampleCard())[0].steps, 7);
  spec.denoise_strength = 0.5;
  EXPECT_EQ(PassesOf(spec, ExampleCard())[0].steps, 3);
  EXPECT_EQ(PassesOf(spec, ExampleCard())[1].steps, 13);
}

TEST(PassesOf, SurvivesACardThatMakesNoSense) {
  ModelCard card = ExampleCard();
  card.presets.back().passes = {{.sides = {1, 0}}, {.sides = {0, -1}}};
  EXPECT_EQ(PassesOf(Spec("twice"), card)[1].tokens, 0);
  EXPECT_EQ(LeastSide("twice", card), 32);
}

TEST(PassesOf, ADraftMakesTheFirstAndItsPromotionTheRest) {
  GenerationSpec spec = Spec("twice");
  const std::vector<PassWork> all = PassesOf(spec, ExampleCard());
  EXPECT_EQ(AllPassesOf(spec, ExampleCard()), all);
  EXPECT_EQ(FileSizeOf(spec, ExampleCard()), (FileSize{spec.width, spec.height}));
  spec.stop_after_pass = 1;
  EXPECT_THAT(PassesOf(spec, ExampleCard()), ElementsAre(all[0]));
  EXPECT_EQ(AllPassesOf(spec, ExampleCard()), all);
  EXPECT_EQ(FileSizeOf(spec, ExampleCard()), (FileSize{128, 96}));
  spec.stop_after_pass.reset();
  spec.source = Source{.begin = Source::Begin::kPromote};
  EXPECT_THAT(PassesOf(spec, ExampleCard()), ElementsAre(all[1]));
  EXPECT_EQ(FileSizeOf(spec, ExampleCard()), (FileSize{spec.width, spec.height}));
}

TEST(PassesOf, ARequestThatNoRuleHasCheckedMakesOneAtLeast) {
  for (const char* preset : {"", "twice", "unknown"}) {
    GenerationSpec spec = Spec(preset);
    spec.stop_after_pass = -7;
    EXPECT_EQ(PassesOf(spec, ExampleCard()).size(), 1U);
    spec.stop_after_pass = 99;
    EXPECT_EQ(PassesOf(spec, ExampleCard()).size(), AllPassesOf(spec, ExampleCard()).size());
    spec.stop_after_pass.reset();
    spec.source = Source{.begin = Source::Begin::kPromote};
    EXPECT_EQ(PassesOf(spec, ExampleCard()).size(), 1U);
  }
}

TEST(LargestOf, IsThePassWithTheMostTokens) {
  const std::vector<PassWork> passes = PassesOf(Spec("twice"), ExampleCard());
  EXPECT_EQ(&LargestOf(passes), &passes[1]);
}

TEST(LeastSide, LeavesEveryPassTheLeastSideOfTheModel) {
  EXPECT_EQ(LeastSide("twice", ExampleCard()), 64);
  ModelCard card = ExampleCard();
  card.limits.min_size = 64;
  EXPECT_EQ(LeastSide("twice", card), 96);  // with a first pass at 64
  EXPECT_EQ(LeastSide("small", ExampleCard()), 32);
  EXPECT_EQ(LeastSide("", ExampleCard()), 32);
}

TEST(SideMultiple, IsWhatNoPassCutsWhereTheLastHasTheVideosSize) {
  ModelCard card = ExampleCard();
  EXPECT_EQ(SideMultiple("", card), 32);
  EXPECT_EQ(SideMultiple("small", card), 32);
  EXPECT_EQ(SideMultiple("twice", card), 32);  // ends at four thirds, and is scaled
  card.presets.back().passes = {{.sides = {1, 2}}, {.sides = {2, 1}}};
  EXPECT_EQ(SideMultiple("twice", card), 64);
  card.presets.back().passes = {{.sides = {2, 3}}, {.sides = {3, 2}}};
  EXPECT_EQ(SideMultiple("twice", card), 96);
  const int most = std::numeric_limits<int>::max();
  card.presets.back().passes = {{.sides = {most, 1}}, {.sides = {most, 0}}, {.sides = {most, -1}}};
  EXPECT_EQ(SideMultiple("twice", card), 32);
}

}  // namespace
}  // namespace reel::model
