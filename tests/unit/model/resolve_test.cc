// SPDX-License-Identifier: Apache-2.0
#include "model/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/model/example_card.h"
#include "tests/unit/model/resolve_example.h"

namespace reel::model {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr int kMaxInt = std::numeric_limits<int>::max();
constexpr int kMinInt = std::numeric_limits<int>::min();

TEST(Resolve, FillsEveryFieldFromTheCard) {
  GenerationSpec sent;
  sent.prompt = "a fox";
  const Resolution resolved = ResolveExample(sent);
  ASSERT_THAT(resolved.violations, IsEmpty());
  const GenerationSpec& spec = resolved.spec;
  EXPECT_EQ(spec.model, "example");
  EXPECT_EQ(spec.width, 704);
  EXPECT_EQ(spec.num_inference_steps, 40);
  EXPECT_EQ(spec.negative_prompt, "blurry");
  EXPECT_EQ(spec.guidance_scale, 3);
  EXPECT_EQ(spec.seed, 7u);
  EXPECT_EQ(spec.kernels.profile, "auto");
  EXPECT_EQ(spec.preview.max_side, 256);
  EXPECT_EQ(spec.encoding.codec, VideoCodec::kH264);
  EXPECT_EQ(spec.encoding.crf, 18);
  EXPECT_EQ(spec.encoding.speed, EncodingSpeed::kVeryfast);
}

TEST(Resolve, AnEmptyNegativePromptIsAValue) {
  GenerationSpec sent;
  sent.prompt = "a fox";
  sent.negative_prompt = "";
  const Resolution resolved = ResolveExample(sent);
  ASSERT_THAT(resolved.violations, IsEmpty());
  EXPECT_EQ(resolved.spec.negative_prompt, "");
}

TEST(Resolve, LeavesFieldsUnsetThatTheModelDoesNotUse) {
  EXPECT_EQ(ResolveExample({}).spec.decode_timestep, std::nullopt);
  EXPECT_EQ(ResolveExample({}).spec.denoise_strength, std::nullopt);
}

TEST(Resolve, RefusesFieldsThatTheModelDoesNotUse) {
  EXPECT_THAT(With([](auto& s) { s.decode_timestep = 0.05; }),
              ElementsAre(Violation("decode_timestep", "leave it out")));
}

TEST(Resolve, PresetWinsOverCardAndExplicitFieldsOverPreset) {
  GenerationSpec sent;
  sent.preset = "small";
  sent.height = 512;
  const GenerationSpec spec = ResolveExample(sent).spec;
  EXPECT_EQ(spec.width, 256);
  EXPECT_EQ(spec.height, 512);
  EXPECT_EQ(spec.num_inference_steps, 8);
  EXPECT_EQ(spec.num_frames, 97);
  EXPECT_EQ(spec.preset, "small");
}

TEST(Resolve, TakesThePresetsTimestepsInsteadOfDefaultSteps) {
  GenerationSpec sent;
  sent.prompt = "a fox";
  sent.preset = "distilled-4";
  const Resolution resolved = ResolveExample(sent);
  EXPECT_THAT(resolved.violations, IsEmpty());
  EXPECT_EQ(resolved.spec.num_inference_steps, 0);
  EXPECT_EQ(resolved.spec.num_steps(), 4);
  EXPECT_EQ(resolved.spec.guidance_scale, 1);
}

TEST(Resolve, ExplicitStepsWinOverThePresetsTimesteps) {
  GenerationSpec sent;
  sent.preset = "distilled-4";
  sent.num_inference_steps = 12;
  const GenerationSpec spec = ResolveExample(sent).spec;
  EXPECT_THAT(spec.timesteps, IsEmpty());
  EXPECT_EQ(spec.num_steps(), 12);
}

TEST(Resolve, ListsThePresetsWhenOneIsUnknown) {
  EXPECT_THAT(With([](auto& s) { s.preset = "fast"; }),
              ElementsAre(Violation("preset",
                                    "'fast' is not a preset of this model; known: "
                                    "distilled-4, small")));
}

TEST(Resolve, NamesTheNearestLegalWidth) {
  EXPECT_THAT(
      With([](auto& s) { s.width = 500; }),
      ElementsAre(Violation("width", "500 is not a multiple of 32; nearest: 512 (or 480)")));
  EXPECT_THAT(With([](auto& s) { s.width = 490; }),
              ElementsAre(Violation("width", "nearest: 480 (or 512)")));
}

TEST(Resolve, NamesTheNearestLegalFrameCount) {
  EXPECT_THAT(With([](auto& s) { s.num_frames = 100; }),
              ElementsAre(Violation("num_frames",
                                    "100 is not a multiple of 8 plus 1; nearest: 97 (or 105)")));
}

TEST(Resolve, AnswersCornerSizes) {
  EXPECT_THAT(With([](auto& s) { s.width = kMaxInt; }),
              ElementsAre(Violation("width",
                                    "2147483647 is not between 32 and 1536; nearest: "
                                    "1536")));
  EXPECT_THAT(With([](auto& s) { s.height = -1; }),
              ElementsAre(Violation("height", "nearest: 32")));
  EXPECT_THAT(With([](auto& s) { s.height = kMinInt; }),
              ElementsAre(Violation("height", "nearest: 32")));
  EXPECT_THAT(With([](auto& s) { s.height = 1; }), ElementsAre(Violation("height", "nearest: 32")));
  EXPECT_THAT(With([](auto& s) { s.num_frames = kMaxInt; }),
              ElementsAre(Violation("num_frames", "nearest: 257")));
  EXPECT_THAT(With([](auto& s) { s.num_frames = -7; }),
              ElementsAre(Violation("num_frames", "nearest: 1")));
}

TEST(Resolve, LimitsTheLatentTokensOfLegalSizes) {
  const auto violations = With([](auto& s) { s.width = s.height = 1536, s.num_frames = 257; });
  ASSERT_THAT(violations, ElementsAre(Violation("num_frames",
                                                "latent tokens, above 32768; "
                                                "nearest: 105")));
  EXPECT_THAT(With([](auto& s) { s.width = s.height = 1536, s.num_frames = 105; }), IsEmpty());
  EXPECT_THAT(With([](auto& s) { s.width = 1216, s.height = 704, s.num_frames = 257; }), IsEmpty());
}

TEST(Resolve, LimitsTheLatentTokensOfTheLargestPass) {
  const auto twice = [](int frames) {
    return With([frames](auto& s) {
      s.preset = "twice", s.width = 1216, s.height = 704, s.num_frames = frames;
    });
  };
  EXPECT_THAT(twice(257), ElementsAre(Violation("num_frames",
                                                "257 frames of 1216x704, with a pass at 1600x896, "
                                                "are 46200 latent tokens, above 32768; "
                                                "nearest: 177")));
  EXPECT_THAT(twice(177), IsEmpty());
  EXPECT_THAT(twice(185), SizeIs(1));
}

TEST(Resolve, KeepsVideosOutOfPassesThatWouldHaveNothing) {
  EXPECT_THAT(With([](auto& s) { s.preset = "twice", s.width = 32, s.height = 64; }),
              ElementsAre(Violation("width", "32 is not between 64 and 1536; nearest: 64")));
  EXPECT_THAT(With([](auto& s) { s.width = 32, s.height = 64; }), IsEmpty());
}

TEST(Resolve, RefusesSidesThatAPassWouldCut) {
  ModelCard card = ExampleCard();
  card.presets.back().passes = {{.sides = {1, 2}}, {.sides = {2, 1}}};
  GenerationSpec spec;
  spec.prompt = "a fox";
  spec.preset = "twice";
  spec.width = 96;
  spec.height = 128;
  EXPECT_THAT(ResolveExample(spec, card).violations,
              ElementsAre(Violation("width", "96 is not a multiple of 64; nearest: 128 (or 64)")));
}

TEST(Resolve, BoundsSteps) {
  EXPECT_THAT(With([](auto& s) { s.num_inference_steps = 101; }),
              ElementsAre(Violation("num_inference_steps", "nearest: 100")));
  EXPECT_THAT(With([](auto& s) { s.num_inference_steps = -1; }),
              ElementsAre(Violation("num_inference_steps", "nearest: 1")));
}

TEST(Resolve, ChecksTimesteps) {
  EXPECT_THAT(With([](auto& s) { s.timesteps = {1000, 500, 500}; }),
              ElementsAre(Violation("timesteps[2]", "500 is not below the one before it")));
  EXPECT_THAT(With([](auto& s) { s.timesteps = {1000.5, 500}; }),
              ElementsAre(Violation("timesteps[0]", "nearest: 1000")));
  EXPECT_THAT(
      With([](auto& s) { s.timesteps = {kNaN, 500, -1}; }),
      ElementsAre(Violation("timesteps[0]", "NaN"), Violation("timesteps[2]", "nearest: 0")));
  EXPECT_THAT(With([](auto& s) { s.timesteps.assign(5000, 1.0); }),
              ElementsAre(Violation("timesteps", "5000 is not between 1 and 100")));
}

TEST(Resolve, RefusesStepsThatContradictTimesteps) {
  EXPECT_THAT(With([](auto& s) { s.timesteps = {900, 100}, s.num_inference_steps = 3; }),
              ElementsAre(Violation("num_inference_steps", "both set")));
}

TEST(Resolve, TakesStepsThatSayTheSameAsTimesteps) {
  GenerationSpec sent;
  sent.prompt = "a fox";
  sent.timesteps = {900, 100};
  sent.num_inference_steps = 2;
  const Resolution resolved = ResolveExample(sent);
  EXPECT_THAT(resolved.violations, IsEmpty());
  EXPECT_EQ(resolved.spec.num_inference_steps, 0);
}

TEST(Resolve, RefusesNumbersThatAreNone) {
  for (const double bad : {kNaN, kInf, -kInf, -0.001, 1e300}) {
    EXPECT_THAT(With([&](auto& s) { s.guidance_scale = bad; }),
                ElementsAre(Violation("guidance_scale", "between 0 and 20")));
    EXPECT_THAT(With([&](auto& s) { s.guidance_rescale = bad; }),
                ElementsAre(Violation("guidance_rescale", "between 0 and 1")));
    EXPECT_THAT(With([&](auto& s) { s.frame_rate = bad; }),
                ElementsAre(Violation("frame_rate", "between 1 and 60")));
    EXPECT_THAT(With([&](auto& s) { s.image_condition_noise_scale = bad; }),
                ElementsAre(Violation("image_condition_noise_scale", "between 0 and 1")));
    EXPECT_THAT(With([&](auto& s) { s.cache.threshold = bad; }),
                ElementsAre(Violation("cache.threshold", "between 0 and 1")));
  }
}

TEST(Resolve, ShowsValuesJustOutsideAsTheyAre) {
  EXPECT_THAT(With([](auto& s) { s.guidance_scale = 20.0000001; }),
              ElementsAre(Violation("guidance_scale", "20.0000001 is not")));
}

TEST(Resolve, ChecksPreviewAndEncoding) {
  EXPECT_THAT(With([](auto& s) { s.preview.every_steps = -1; }),
              ElementsAre(Violation("preview.every_steps", "nearest: 0")));
  EXPECT_THAT(With([](auto& s) { s.preview.max_side = 31; }),
              ElementsAre(Violation("preview.max_side", "nearest: 32")));
  EXPECT_THAT(With([](auto& s) { s.preview.max_side = 513; }),
              ElementsAre(Violation("preview.max_side", "nearest: 512")));
  EXPECT_THAT(With([](auto& s) { s.encoding.crf = 52; }),
              ElementsAre(Violation("encoding.crf", "nearest: 51")));
  EXPECT_THAT(With([](auto& s) { s.encoding.crf = 0; }), IsEmpty());
}

TEST(Resolve, RefusesABlankPrompt) {
  for (const char* blank : {"", " ", "\t\r\n "}) {
    EXPECT_THAT(With([&](auto& s) { s.prompt = blank; }),
                ElementsAre(Violation("prompt", "is empty")));
  }
  EXPECT_THAT(With([](auto& s) { s.prompt = " a "; }), IsEmpty());
}

TEST(Resolve, SpeaksOfPromptsByLengthOnly) {
  const auto long_one = With([](auto& s) { s.prompt = std::string(2001, 'x'); });
  ASSERT_THAT(long_one, ElementsAre(Violation("prompt", "2001 characters, above 2000")));
  EXPECT_THAT(long_one[0].description, Not(HasSubstr("xx")));
  EXPECT_THAT(With([](auto& s) { s.prompt = std::string(9000, 'x'); }),
              ElementsAre(Violation("prompt", "9000 bytes, above 8192")));
  EXPECT_THAT(With([](auto& s) { s.negative_prompt = "a\xFFz"; }),
              ElementsAre(Violation("negative_prompt", "not valid UTF-8")));
  EXPECT_THAT(With([](auto& s) { s.prompt = std::string("a\0b", 3); }),
              ElementsAre(Violation("prompt", "NUL")));
}

TEST(Resolve, CountsCharactersNotBytes) {
  std::string umlauts;
  for (int i = 0; i < 2000; ++i) umlauts += "\xC3\xA4";
  EXPECT_THAT(With([&](auto& s) { s.prompt = umlauts; }), IsEmpty());
}

TEST(Resolve, ChecksConditions) {
  const auto image = [](int frame, int64_t size) {
    Condition condition;
    condition.frame_index = frame;
    condition.size_bytes = size;
    return condition;
  };
  EXPECT_THAT(With([&](auto& s) { s.conditions = {image(0, 10), image(96, 10)}; }), IsEmpty());
  EXPECT_THAT(With([&](auto& s) { s.conditions = {image(97, 10), image(-1, 0)}; }),
              ElementsAre(Violation("conditions[1].size_bytes", "nearest: 1"),
                          Violation("conditions[0].frame_index", "nearest: 96"),
                          Violation("conditions[1].frame_index", "nearest: 0")));
  EXPECT_THAT(With([&](auto& s) { s.conditions.assign(5, image(0, 1)); }),
              ElementsAre(Violation("conditions", "nearest: 4")));
  Condition sent;
  sent.bytes = std::make_shared<const std::string>(2'000'000, 'x');
  EXPECT_THAT(With([&](auto& s) { s.conditions.assign(2, sent); }),
              ElementsAre(Violation("conditions", "4000000 bytes together")));
  // Of what is not in the message.
  EXPECT_THAT(With([&](auto& s) { s.conditions.assign(2, image(0, 40'000'000)); }),
              ElementsAre(Violation("conditions", "files of 80000000 bytes together")));
  EXPECT_THAT(With([&](auto& s) {
                s.conditions = {image(0, 1)};
                s.conditions[0].strength = 1.5;
              }),
              ElementsAre(Violation("conditions[0].strength", "nearest: 1")));
}

TEST(Resolve, RefusesConditionsThatTheModelCannotTake) {
  ModelCard card = ExampleCard();
  card.supports_conditions = false;
  GenerationSpec sent;
  sent.prompt = "a fox";
  sent.conditions.resize(1);
  sent.conditions[0].bytes = std::make_shared<const std::string>("png");
  EXPECT_THAT(Resolve(sent, card, RequestLimits(), 0).violations,
              ElementsAre(Violation("conditions", "does not support conditions; nearest: 0")));
}

TEST(Resolve, SoundIsTheModelsUnlessARequestLeavesItOut) {
  ModelCard card = ExampleCard();
  GenerationSpec spec;
  spec.prompt = "a fox";
  EXPECT_EQ(Resolve(spec, card, RequestLimits(), 1).spec.sound, std::nullopt);
  spec.sound = false;
  EXPECT_TRUE(Resolve(spec, card, RequestLimits(), 1).ok());
  spec.sound = true;
  const Resolution refused = Resolve(spec, card, RequestLimits(), 1);
  ASSERT_EQ(refused.violations.size(), 1u);
  EXPECT_EQ(refused.violations[0].field, "sound");

  card.sound = {.sample_rate = 48'000, .channels = 2};
  EXPECT_TRUE(Resolve(spec, card, RequestLimits(), 1).ok());
  spec.sound = std::nullopt;
  EXPECT_EQ(Resolve(spec, card, RequestLimits(), 1).spec.sound, true);
  spec.sound = false;
  EXPECT_EQ(Resolve(spec, card, RequestLimits(), 1).spec.sound, false);
}

TEST(Resolve, RefusesAnotherModelsName) {
  EXPECT_THAT(With([](auto& s) { s.model = "other"; }),
              ElementsAre(Violation("model", "nearest: example")));
}

TEST(Resolve, RefusesWhatCannotBeAKernelName) {
  EXPECT_THAT(With([](auto& s) { s.kernels.profile = "../auto"; }),
              ElementsAre(Violation("kernels.profile", "not a name")));
  EXPECT_THAT(With([](auto& s) { s.kernels.variants["rms norm"] = "sm90"; }),
              ElementsAre(Violation("kernels.variants", "'rms norm'")));
  EXPECT_THAT(With([](auto& s) { s.kernels.experiment = "-"; }), IsEmpty());
}

TEST(Resolve, TakesALossyProfileWhereTheModelHasAUseForIt) {
  for (const std::string profile : {"fp8", "cache"}) {
    EXPECT_THAT(With([&](auto& s) { s.kernels.profile = profile; }),
                ElementsAre(Violation("kernels.profile", "does not support " + profile)));
  }
  ModelCard card = ExampleCard();
  card.lossy_profiles = {"fp8"};
  GenerationSpec spec;
  spec.prompt = "a fox";
  spec.kernels.profile = "fp8";
  EXPECT_TRUE(Resolve(spec, card, RequestLimits(), 0).ok());
}

TEST(Resolve, LeavesTheCacheAsItWasSentAndBoundsIt) {
  GenerationSpec sent;
  sent.prompt = "a fox";
  EXPECT_EQ(ResolveExample(sent).spec.cache, CacheOptions());
  sent.cache = {.threshold = 0, .most_reused = 16};
  EXPECT_THAT(ResolveExample(sent).violations, IsEmpty());
  EXPECT_EQ(ResolveExample(sent).spec.cache, sent.cache);
  EXPECT_THAT(With([](auto& s) { s.cache.most_reused = 17; }),
              ElementsAre(Violation("cache.most_reused", "nearest: 16")));
  EXPECT_THAT(With([](auto& s) { s.cache.most_reused = -1; }),
              ElementsAre(Violation("cache.most_reused", "nearest: 0")));
  ModelCard card = ExampleCard();
  card.defaults.cache = {};
  EXPECT_THAT(Resolve(sent, card, RequestLimits(), 0).violations,
              ElementsAre(Violation("cache.threshold", "does not support"),
                          Violation("cache.most_reused", "does not support")));
}

TEST(Resolve, ReportsAllViolationsAtOnce) {
  const auto violations = With([](auto& s) {
    s.width = 500;
    s.height = 0x7FFFFFFF;
    s.num_frames = 100;
    s.num_inference_steps = 1000;
    s.guidance_scale = -1;
    s.frame_rate = 1000;
    s.encoding.crf = -1;
    s.preset = "none";
    s.prompt = "\xFF";
  });
  EXPECT_THAT(violations, SizeIs(9));
}

TEST(CheckWithoutCard, LeavesSizesToTheCard) {
  GenerationSpec spec;
  spec.prompt = "a fox";
  spec.width = 500;
  spec.encoding.crf = 99;
  EXPECT_THAT(CheckWithoutCard(spec, RequestLimits()),
              ElementsAre(Violation("encoding.crf", "nearest: 51")));
}

}  // namespace
}  // namespace reel::model
