// SPDX-License-Identifier: Apache-2.0
// The card of an LTX-2 model: limits, defaults and presets.
#include "model/ltx2/ltx2_card.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx2/presets.h"
#include "model/pass_work.h"
#include "model/resolve.h"
#include "tests/fakes/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ModelCard CardFor(const std::string& variant, Scheduler scheduler = Scheduler::kDynamic) {
  const TinyFolder folder(variant, scheduler);
  LoadOptions options;
  options.path = folder.path();
  const auto model = LoadLtx2Model(options, at::kCPU, Values::kNone);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? CardOf(**model, "tiny") : ModelCard();
}

GenerationSpec Request() {
  GenerationSpec spec;
  spec.prompt = "a fox";
  return spec;
}

std::vector<std::string> Refused(const GenerationSpec& spec, const ModelCard& card) {
  std::vector<std::string> fields;
  for (const FieldViolation& violation : Resolve(spec, card, {}, 1).violations) {
    fields.push_back(violation.field);
  }
  return fields;
}

std::vector<std::string> PresetsOf(const ModelCard& card) {
  std::vector<std::string> names;
  for (const Preset& preset : card.presets) names.push_back(preset.name);
  return names;
}

TEST(Ltx2Card, OffersTheSinglePassOfItsGenerationAlone) {
  EXPECT_THAT(PresetsOf(CardFor("2.0")), ElementsAre("19b-2.0-dev"));
  EXPECT_THAT(PresetsOf(CardFor("2.3")), ElementsAre("22b-2.3-dev"));
  EXPECT_THAT(PresetsOf(CardFor("2.3", Scheduler::kStatic)), ElementsAre("22b-2.3-distilled"));
  EXPECT_EQ(PresetsFor({.version = Version::k2_5, .is_distilled = true})[0].name,
            "22b-2.5-distilled");
}

TEST(Ltx2Card, ResolvesToTheGuidanceOfTheReference) {
  const ModelCard card = CardFor("2.3");
  for (const char* preset : {"", "22b-2.3-dev"}) {
    GenerationSpec spec = Request();
    spec.preset = preset;
    const Resolution resolved = Resolve(spec, card, {}, 1);
    ASSERT_TRUE(resolved.ok()) << resolved.violations[0].field;
    const StreamGuidance guidance = GuidanceOf(resolved.spec);
    EXPECT_EQ(guidance.video, (DeltaGuidance{3, 1, 3, 0.7}));
    EXPECT_EQ(guidance.audio, (DeltaGuidance{7, 1, 3, 0.7}));
    EXPECT_THAT(guidance.perturbed_blocks, ElementsAre(1));
    EXPECT_EQ(resolved.spec.num_inference_steps, 30);
    // Prompt, negative prompt, perturbed, isolated.
    const PassWork work = PassesOf(resolved.spec, card)[0];
    EXPECT_EQ(work.tokens, 16 * 16 * 24);
    EXPECT_EQ(work.rows, 4 * work.tokens);
  }
}

TEST(Ltx2Card, TakesTheVideosGuidanceForSoundThatHasNone) {
  GenerationSpec spec;
  spec.guidance_scale = 4;
  spec.audio_guidance_scale = 0;
  spec.modality_scale = 2;
  EXPECT_EQ(GuidanceOf(spec).audio, (DeltaGuidance{4, 0, 2, 0}));
}

TEST(Ltx2Card, RefusesGuidanceOfADistilledModelByName) {
  const ModelCard card = CardFor("2.3", Scheduler::kStatic);
  GenerationSpec spec = Request();
  spec.preset = "22b-2.3-distilled";
  const Resolution plain = Resolve(spec, card, {}, 1);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain.spec.num_steps(), 8);
  EXPECT_EQ(PassesOf(plain.spec, card)[0].rows, PassesOf(plain.spec, card)[0].tokens);
  spec.guidance_scale = 3;
  spec.audio_guidance_scale = 7;
  spec.stg_scale = 1;
  spec.stg_blocks = {1};
  spec.modality_scale = 3;
  EXPECT_THAT(Refused(spec, card), ElementsAre("guidance_scale", "audio_guidance_scale",
                                               "stg_scale", "modality_scale", "stg_blocks"));
}

TEST(Ltx2Card, CountsNoRowsOfPerturbedBlocksForAModelThatHasNone) {
  const ModelCard card = CardFor("2.0");
  GenerationSpec spec = Request();
  spec.stg_scale = 1;
  const Resolution resolved = Resolve(spec, card, {}, 1);
  ASSERT_TRUE(resolved.ok()) << resolved.violations[0].field;
  EXPECT_FALSE(GuidanceOf(resolved.spec).uses_perturbed());
  const PassWork work = PassesOf(resolved.spec, card)[0];
  EXPECT_EQ(work.rows, 3 * work.tokens);
  spec.stg_blocks = {1};
  EXPECT_THAT(Refused(spec, card), ElementsAre("stg_blocks"));
}

TEST(Ltx2Card, HoldsRequestsToItsLimits) {
  const ModelCard card = CardFor("2.0");
  GenerationSpec spec = Request();
  spec.width = 32;  // its decoder reflects, which takes two latents
  EXPECT_THAT(Refused(spec, card), ElementsAre("width"));
  EXPECT_THAT(Refused(spec, CardFor("2.3")), IsEmpty());
  spec.width = 1920;
  spec.height = 1088;
  spec.num_frames = 481;
  EXPECT_THAT(Refused(spec, card), ElementsAre("num_frames"));  // 124,440 tokens
  spec.num_frames = 249;
  EXPECT_THAT(Refused(spec, card), IsEmpty());
  spec.num_frames = 489;
  spec.frame_rate = 61;
  spec.max_text_tokens = 1025;
  EXPECT_THAT(Refused(spec, card), ElementsAre("num_frames", "frame_rate", "max_text_tokens"));
}

// In bf16, beside the figures of tests/bench/results/ltx2.md.
TEST(Ltx2Card, TellsTheMemoryThatFilmsWereSeenToTake) {
  const MemoryCosts costs = MemoryOf(TransformerConfig(), 2);
  const auto gigabytes = [&](int width, int height, int64_t rows_each) {
    const int64_t tokens = int64_t{width / 32} * (height / 32) * 16;
    const std::vector<PassWork> passes = {
        {.width = width, .height = height, .tokens = tokens, .rows = rows_each * tokens}};
    return static_cast<double>(PeakMemoryOf(costs, {passes, int64_t{121} * width * height})) / 1e9;
  };
  EXPECT_NEAR(gigabytes(768, 512, 1), 0.95, 0.03);
  EXPECT_NEAR(gigabytes(1920, 1088, 1), 4.7, 0.1);
  // All guidance: four rows, two of them in one call.
  EXPECT_EQ(gigabytes(768, 512, 4), gigabytes(768, 512, 2));
  EXPECT_GT(gigabytes(768, 512, 4), gigabytes(768, 512, 1));
  MemoryCosts tiny = MemoryOf({.video = {.channels = 8, .num_heads = 4, .head_dim = 12},
                               .audio = {.num_heads = 4, .head_dim = 8}},
                              4);
  tiny.encode_pixel = CardFor("2.3").memory.encode_pixel;  // condition_memory_test.cc
  EXPECT_GT(tiny.encode_pixel, 0);
  EXPECT_EQ(CardFor("2.3").memory, tiny);
}

TEST(Ltx2Card, StepsWithTheSamplerOfThePreset) {
  GenerationSpec spec;
  EXPECT_EQ(SamplerOf(spec), Sampler::kEuler);
  spec.preset = "22b-2.3-distilled";
  EXPECT_EQ(SamplerOf(spec), Sampler::kEuler);
  spec.preset = "22b-2.5-distilled";
  EXPECT_EQ(SamplerOf(spec), Sampler::kAncestralEuler);
}

TEST(Ltx2Card, MarksBeginningsByPresetsOf2_5Alone) {
  GenerationSpec spec;
  EXPECT_FALSE(MarksBeginnings(spec));
  for (const char* preset : {"22b-2.3-dev", "22b-2.3-distilled-two-pass"}) {
    spec.preset = preset;
    EXPECT_FALSE(MarksBeginnings(spec)) << preset;
  }
  for (const char* preset : {"22b-2.5-dev", "22b-2.5-distilled", "22b-2.5-distilled-two-pass"}) {
    spec.preset = preset;
    EXPECT_TRUE(MarksBeginnings(spec)) << preset;
  }
}

}  // namespace
}  // namespace reel::model::ltx2
