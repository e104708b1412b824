// SPDX-License-Identifier: Apache-2.0
#include "model/refinement.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/pass_work.h"
#include "model/resolve.h"
#include "tests/unit/model/example_card.h"

namespace reel::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ModelCard RefiningCard() {
  ModelCard card = ExampleCard();
  card.presets.push_back(
      {"half-first",
       {},
       {{.sides = {1, 2}},
        {.steps = 3, .sides = {2, 1}, .guided = false, .timesteps = {900, 725, 420}}}});
  return card;
}

Condition RefinedClip() {
  Condition clip;
  clip.kind = Condition::Kind::kVideo;
  clip.use = Condition::Use::kRefine;
  clip.size_bytes = 10;
  return clip;
}

GenerationSpec RefinementSpec() {
  GenerationSpec spec;
  spec.prompt = "a fox";
  spec.preset = "half-first";
  spec.width = 704;
  spec.height = 448;
  spec.conditions = {RefinedClip()};
  return spec;
}

GenerationSpec FilledRefinement(const GenerationSpec& spec) {
  const Resolution resolved = Resolve(spec, RefiningCard(), RequestLimits(), 1);
  for (const FieldViolation& each : resolved.violations) {
    ADD_FAILURE() << each.field << " " << each.description;
  }
  return resolved.spec;
}

// "field: description", of the only violation.
std::string WhyRefused(const GenerationSpec& spec, const ModelCard& card = RefiningCard()) {
  const Resolution resolved = Resolve(spec, card, RequestLimits(), 1);
  EXPECT_THAT(resolved.violations, SizeIs(1));
  if (resolved.violations.empty()) return "";
  return resolved.violations[0].field + ": " + resolved.violations[0].description;
}

TEST(Refinement, TakesTheSecondPasssFirstNoiseAndIsIdempotent) {
  const GenerationSpec spec = FilledRefinement(RefinementSpec());
  EXPECT_DOUBLE_EQ(*spec.denoise_strength, 0.9);
  EXPECT_FALSE(spec.conditions[0].strength.has_value());
  EXPECT_EQ(FilledRefinement(spec), spec);
  GenerationSpec own = RefinementSpec();
  own.denoise_strength = 0.5;
  EXPECT_DOUBLE_EQ(*FilledRefinement(own).denoise_strength, 0.5);
  own.preset.clear();
  EXPECT_EQ(FilledRefinement(own).preset, "half-first");
  own.conditions.clear();
  EXPECT_THAT(WhyRefused(own), HasSubstr("denoise_strength: "))
      << "of clips that are refined alone";
}

TEST(Refinement, CountsTheStepsOfTheSecondPassAlone) {
  const ModelCard card = RefiningCard();
  GenerationSpec spec = RefinementSpec();
  const int64_t tokens = int64_t{22} * 14 * 13;
  // The card's defaults have perturbed rows, in every pass.
  EXPECT_THAT(PassesOf(FilledRefinement(spec), card),
              ElementsAre(PassWork{704, 448, tokens, 2 * tokens, 3}));
  for (const auto& [strength, steps] : std::vector<std::pair<double, int>>{
           {0.9, 3}, {0.8, 3}, {0.725, 2}, {0.5, 2}, {0.42, 1}, {0.01, 1}}) {
    spec.denoise_strength = strength;
    EXPECT_EQ(PassesOf(FilledRefinement(spec), card)[0].steps, steps) << strength;
  }
  spec.denoise_strength = 0.5;
  EXPECT_THAT(RefinementTimesteps(spec, card), ElementsAre(500, 420));
  const FileSize size = RefinedClipSize(FilledRefinement(spec), card);
  EXPECT_EQ(size, (FileSize{352, 224}));
  EXPECT_EQ(FileSizeOf(FilledRefinement(spec), card), (FileSize{704, 448}));
}

// 500.7 over 1000 and times it is a little more in doubles.
TEST(Refinement, TakesAStepOnceThoughItsStrengthIsRounded) {
  ModelCard card = RefiningCard();
  card.presets.back().passes.back().timesteps = {500.7, 420};
  const Resolution resolved = Resolve(RefinementSpec(), card, RequestLimits(), 1);
  ASSERT_TRUE(resolved.ok()) << resolved.violations[0].description;
  EXPECT_THAT(RefinementTimesteps(resolved.spec, card), SizeIs(2));
}

TEST(Refinement, OfALongClipGoesInWindowsThatShareAnOverlap) {
  const ModelCard card = RefiningCard();
  for (int frames = 249; frames <= 721; frames += 8) {
    GenerationSpec spec = RefinementSpec();
    spec.num_frames = frames;
    spec = FilledRefinement(spec);
    const std::vector<Stretch> windows = RefinementWindows(spec, card);
    EXPECT_EQ(windows.front().begin, 0);
    EXPECT_EQ(windows.back().end, (frames - 1) / 8 + 1);
    for (size_t i = 0; i < windows.size(); ++i) {
      const int64_t latents = windows[i].end - windows[i].begin;
      EXPECT_EQ(latents, windows[0].end) << "all are as long";
      EXPECT_LE((latents - 1) * 8 + 1, card.limits.max_frames);
      EXPECT_LE(latents * 22 * 14, card.limits.max_latent_tokens);
      if (i == 0) continue;
      EXPECT_GE(windows[i - 1].end - windows[i].begin, 4) << frames;
    }
    EXPECT_THAT(PassesOf(spec, card), SizeIs(windows.size()));
  }
}

TEST(Refinement, IsRefusedByFieldWhereItCannotBeMade) {
  GenerationSpec spec = RefinementSpec();
  spec.preset = "small";
  spec.width = spec.height = 256;
  EXPECT_THAT(WhyRefused(spec), HasSubstr("preset: preset 'small' has no second pass"));
  EXPECT_THAT(WhyRefused(spec), HasSubstr("presets with one: half-first"));
  spec.preset.clear();
  EXPECT_THAT(WhyRefused(spec, ExampleCard()), HasSubstr("needs a latent upsampler"));
  spec = RefinementSpec();
  spec.conditions[0].kind = Condition::Kind::kImage;
  EXPECT_THAT(WhyRefused(spec), HasSubstr("conditions[0].image: only a clip is refined"));
  spec.conditions[0] = RefinedClip();
  spec.conditions[0].frame_index = 8;
  EXPECT_THAT(WhyRefused(spec), HasSubstr("conditions[0].frame_index: 8, but"));
  spec.conditions[0] = RefinedClip();
  spec.conditions[0].strength = 0.5;
  EXPECT_THAT(WhyRefused(spec), HasSubstr("conditions[0].strength: 0.5, but"));
  spec.conditions = {RefinedClip(), RefinedClip()};
  EXPECT_THAT(WhyRefused(spec), HasSubstr("conditions[1].use: is a second clip"));
  spec.conditions = {Condition{}, RefinedClip()};
  spec.conditions[0].size_bytes = 1;
  EXPECT_THAT(WhyRefused(spec), HasSubstr("conditions[0].image: stands beside"));
  spec = RefinementSpec();
  spec.stop_after_pass = 1;
  EXPECT_THAT(WhyRefused(spec), HasSubstr("stop_after_pass: a refinement has no first pass"));
  spec = RefinementSpec();
  spec.source = Source{.video = "videos/x", .begin = Source::Begin::kPromote};
  EXPECT_THAT(WhyRefused(spec), HasSubstr("source: stands beside"));
}

TEST(Refinement, IsBoundedInNoiseAndTime) {
  GenerationSpec spec = RefinementSpec();
  for (const double strength : {0.0, 0.91, 1.0}) {
    spec.denoise_strength = strength;
    EXPECT_THAT(WhyRefused(spec), HasSubstr("denoise_strength: "));
  }
  spec = RefinementSpec();
  spec.num_frames = 729;
  EXPECT_THAT(WhyRefused(spec), HasSubstr("num_frames: 729"));
  EXPECT_THAT(WhyRefused(spec), HasSubstr("nearest: 721")) << "30 s of 24 frames";
  spec.num_frames = 257;
  spec.frame_rate = 8;
  EXPECT_THAT(WhyRefused(spec), HasSubstr("nearest: 241"));
}

TEST(Refinement, TellsWhatIsCutAndWhatStandsStill) {
  GenerationSpec spec = FilledRefinement(RefinementSpec());
  EXPECT_THAT(RefinementNotices(spec), IsEmpty());
  auto pixels = std::make_shared<ConditionPixels>();
  pixels->num_frames = 48;
  spec.conditions[0].pixels = pixels;
  ASSERT_THAT(RefinementNotices(spec), SizeIs(1));
  EXPECT_EQ(RefinementNotices(spec)[0].code, "REFINED_CLIP_ENDS_EARLY");
  EXPECT_THAT(RefinementNotices(spec)[0].message, HasSubstr("ends after 2.00 s, the video after"));
  pixels->num_frames = 97;
  EXPECT_THAT(RefinementNotices(spec), IsEmpty());
  pixels->is_cut = true;
  EXPECT_EQ(RefinementNotices(spec)[0].code, "REFINED_CLIP_CUT");
}

}  // namespace
}  // namespace reel::model
