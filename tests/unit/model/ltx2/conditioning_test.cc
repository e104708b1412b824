// SPDX-License-Identifier: Apache-2.0
// Films from pictures and clips, against diffusers, and as the engine drives them.
#include "model/ltx2/conditioning.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx2/ltx2_generation.h"
#include "model/ltx2/ltx2_pipeline.h"
#include "model/pass_work.h"
#include "tests/unit/model/ltx/pipeline_run.h"
#include "tests/unit/model/ltx2/film.h"
#include "tests/unit/model/ltx2/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

using ::testing::HasSubstr;

// golden_ltx2_conditions.py keeps one of so many values.
constexpr int64_t kFramesKept = 97, kWaveKept = 31;

struct Pinned {
  int frames, frame_index;
  double strength;
};

// Pictures of the video's size as golden_ltx2_conditions.py draws them.
Condition ConditionOf(const Pinned& pinned, int width, int height) {
  ConditionPixels pixels = {width, height, pinned.frames, {}};
  const int latent = (pinned.frame_index + 7) / 8;
  for (int frame = 0; frame < pinned.frames; ++frame) {
    for (int place = 0; place < width * height; ++place) {
      for (int channel = 0; channel < 3; ++channel) {
        const int value = (channel * width * height + place) * (frame + 1 + latent) % 251;
        pixels.rgb.push_back(static_cast<uint8_t>(value));
      }
    }
  }
  Condition condition;
  condition.kind = pinned.frames == 1 ? Condition::Kind::kImage : Condition::Kind::kVideo;
  condition.frame_index = pinned.frame_index;
  condition.strength = pinned.strength;
  condition.pixels = std::make_shared<const ConditionPixels>(std::move(pixels));
  return condition;
}

GenerationSpec With(GenerationSpec spec, const std::vector<Pinned>& pinned) {
  for (const Pinned& one : pinned) {
    spec.conditions.push_back(ConditionOf(one, spec.width, spec.height));
  }
  return spec;
}

GenerationSpec AtTwentyFive() {
  GenerationSpec spec = TinySpec();
  spec.frame_rate = 25;
  return spec;
}

GenerationSpec WithAllGuidance() {
  GenerationSpec spec = AtTwentyFive();
  spec.guidance_scale = 3;
  spec.guidance_rescale = 0.7;
  spec.modality_scale = 3;
  spec.stg_scale = 1;
  spec.stg_blocks = {1};
  spec.audio_guidance_scale = 7;
  spec.audio_guidance_rescale = 0.6;
  spec.audio_modality_scale = 2.5;
  spec.audio_stg_scale = 1.5;
  return spec;
}

GenerationSpec OfGivenSteps() {
  GenerationSpec spec = AtTwentyFive();
  spec.num_inference_steps = 0;
  spec.timesteps = {993.75, 725, 421.875};
  return spec;
}

GenerationSpec InTwoPasses() {
  GenerationSpec spec = OfGivenSteps();
  spec.preset = "22b-2.3-distilled-two-pass";
  spec.timesteps = {1000, 909.375, 421.875};
  spec.width = 192;
  spec.height = 128;
  return spec;
}

struct ConditionCase {
  const char* film;
  const char* variant;
  GenerationSpec spec;
};

std::vector<ConditionCase> AllCases() {
  const std::vector<Pinned> first = {{1, 0, 1}}, weak = {{1, 0, 0.7}, {1, 9, 0.8}};
  return {{"image-2.0", "2.0", With(WithAllGuidance(), first)},
          {"image-2.3", "2.3", With(WithAllGuidance(), first)},
          {"image-given-2.3", "2.3", With(OfGivenSteps(), first)},
          {"weak-2.0", "2.0", With(WithAllGuidance(), weak)},
          {"weak-2.3", "2.3", With(WithAllGuidance(), weak)},
          {"clips-2.3", "2.3", With(OfGivenSteps(), {{12, 1, 1}, {9, 0, 0.9}})},
          {"cut-2.3", "2.3", With(OfGivenSteps(), {{5, 9, 1}})},
          {"nothing-2.3", "2.3", With(AtTwentyFive(), {{1, 0, 0}, {1, 1, 0}})},
          {"two-passes-2.3", "2.3", With(InTwoPasses(), {{1, 0, 1}, {9, 1, 0.6}})},
          {"two-passes-image-2.3", "2.3", With(InTwoPasses(), first)}};
}

// With the tokens that conditions add, as the golden has them.
at::Tensor AllPictureTokens(const Generation& generation) {
  return static_cast<const Ltx2Generation&>(generation).state.latents.video[0].to(at::kCPU);
}

class ConditionGolden : public ::testing::TestWithParam<ConditionCase> {};

TEST_P(ConditionGolden, EqualsTheFilmOfDiffusers) {
  const auto& [name, variant, spec] = GetParam();
  const TinyFolder folder(variant,
                          spec.timesteps.empty() ? Scheduler::kDynamic : Scheduler::kStatic);
  if (!spec.preset.empty()) folder.AddUpsampler("x2");
  const auto pipeline = LoadTiny(folder);
  ASSERT_NE(pipeline, nullptr);
  const TestRun test;
  const auto generation = ltx::Begin(*pipeline, spec, test.run);
  ASSERT_NE(generation, nullptr);
  const Golden golden = Golden::In(std::string("ltx2/conditions/") + name);
  for (int step = 0; step < kTinySteps; ++step) {
    ltx::StepAll(*pipeline, {generation.get()}, test.run);
  }
  if (golden.Has("first.video")) {
    EXPECT_LT(RelativeError("first.video", AllPictureTokens(*generation), golden["first.video"]),
              1e-5);
    EXPECT_LT(
        RelativeError("first.audio", TokensOf(*pipeline, *generation).audio, golden["first.audio"]),
        1e-5);
  }
  const Film film = Made(*pipeline, *generation);
  EXPECT_LT(RelativeError("video", AllPictureTokens(*generation), golden["video"]), 1e-5);
  EXPECT_LT(RelativeError("audio", film.audio, golden["audio"]), 1e-5);
  EXPECT_LT(
      RelativeError("frames", film.frames.flatten().slice(0, 0, {}, kFramesKept), golden["frames"]),
      1e-5);
  EXPECT_LT(RelativeError("wave", film.wave.flatten().slice(0, 0, {}, kWaveKept), golden["wave"]),
            5e-5);
}

INSTANTIATE_TEST_SUITE_P(Films, ConditionGolden, ::testing::ValuesIn(AllCases()),
                         [](const auto& given) { return "case_" + std::to_string(given.index); });

class Ltx2Conditions : public DistilledFilmTest {
 protected:
  std::unique_ptr<Generation> Begin(const GenerationSpec& spec) {
    return ltx::Begin(*pipeline_, spec, test_.run);
  }
  std::string RefusalOf(const GenerationSpec& spec) {
    const auto status = pipeline_->Create(spec, test_.run).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    return std::string(status.message());
  }
};

TEST_F(Ltx2Conditions, CountTheTokensThatTheyAddInEitherPass) {
  // Two latent frames of the clip, one of the picture.
  const GenerationSpec spec = With(InTwoPasses(), {{1, 0, 1}, {9, 1, 1}, {1, 9, 1}});
  const auto generation = Begin(spec);
  ASSERT_NE(generation, nullptr);
  const std::vector<PassWork> passes = PassesOf(spec, pipeline_->card());
  EXPECT_EQ(generation->rows(), passes[0].rows * (3 + 3) / 3);
  for (int step = 0; step < kTinySteps; ++step) Step(*generation);
  EXPECT_EQ(generation->rows(), passes[1].rows * (3 + 3) / 3);
  Step(*generation);
  EXPECT_EQ(generation->rows(), passes[1].rows * (3 + 3) / 3);
  EXPECT_EQ(AllPictureTokens(*generation).size(0), generation->rows());
}

TEST_F(Ltx2Conditions, AreEncodedAPieceAtATime) {
  const auto generation =
      pipeline_->Create(With(OfGivenSteps(), {{1, 0, 0.5}, {1, 9, 1}}), test_.run);
  ASSERT_TRUE(generation.ok()) << generation.status();
  std::vector<bool> ready;
  for (int piece = 0; piece < 4; ++piece) {
    ready.push_back(*pipeline_->BeginNext(**generation, test_.run));
  }
  EXPECT_THAT(ready, ::testing::ElementsAre(false, false, false, true));  // behind the prompt
}

TEST_F(Ltx2Conditions, SurviveParkingAndPieces) {
  const GenerationSpec spec = With(InTwoPasses(), {{1, 0, 0.8}, {9, 1, 0.6}});
  const Film film = Make(*pipeline_, spec);
  const auto generation = Begin(spec);
  ASSERT_NE(generation, nullptr);
  while (generation->step() < generation->num_steps()) {
    ASSERT_TRUE(generation->Park(true).ok() && generation->Resume().ok());
    Generation* const batch[] = {generation.get()};
    const auto step = pipeline_->BeginStep(batch, 48, test_.run);
    auto results = step->Next(test_.run);
    while (!results.has_value()) results = step->Next(test_.run);
    ASSERT_TRUE(results->at(0).ok()) << results->at(0);
    ASSERT_TRUE(pipeline_->Preview(*generation, 48, test_.run).ok());
  }
  EXPECT_TRUE(at::equal(Made(*pipeline_, *generation).frames, film.frames));
}

TEST_F(Ltx2Conditions, MoveWithAllElseThatAFilmHolds) {
  const auto generation = Begin(With(OfGivenSteps(), {{1, 0, 0.5}, {1, 9, 1}}));
  ASSERT_NE(generation, nullptr);
  auto& mine = static_cast<Ltx2Generation&>(*generation);
  const int64_t bytes = mine.device_bytes();
  mine.state.pins = {};
  EXPECT_LT(mine.device_bytes(), bytes);
  const auto other = Begin(With(OfGivenSteps(), {{1, 0, 0.5}}));
  static_cast<Ltx2Generation&>(*other).MoveTo(at::kMeta);
  EXPECT_EQ(other->device_bytes(), 0);
}

// Else a long video would need nine rows of the transformer's width for each of its tokens.
TEST_F(Ltx2Conditions, HaveEachTimeOnce) {
  const auto generation = Begin(With(OfGivenSteps(), {{1, 0, 1}, {1, 9, 0.5}, {1, 1, 0.5}}));
  ASSERT_NE(generation, nullptr);
  const Pins& pins = static_cast<const Ltx2Generation&>(*generation).state.pins;
  EXPECT_EQ(pins.free.numel(), 3);  // free, pinned, half
  EXPECT_EQ(pins.free_of.numel(), 6 * 5);
}

// The reference's pipeline lets its sampler add noise to what is pinned; the releases' code does
// not.
TEST_F(Ltx2Conditions, StayAsTheyAreWithASamplerThatAddsNoise) {
  for (const Sampler sampler : {Sampler::kAncestralEuler, Sampler::kRes2s}) {
    const auto generation = Begin(With(OfGivenSteps(), {{1, 0, 1}, {1, 9, 1}}));
    ASSERT_NE(generation, nullptr);
    auto& mine = static_cast<Ltx2Generation&>(*generation);
    mine.state.sampler = sampler;
    mine.state.middle_generator = at::detail::createCPUGenerator(1);
    const at::Tensor before = mine.state.latents.video;
    Step(*generation);
    const auto [mask, clean, free, free_of, exact] = mine.state.pins;
    const at::Tensor after = mine.state.latents.video;
    EXPECT_LT((after * mask - clean).abs().max().item<double>(), 1e-6);
    EXPECT_GT(((after - before) * (1 - mask)).abs().max().item<double>(), 0.1);
  }
}

TEST_F(Ltx2Conditions, ArePinnedByTheirStrength) {
  const auto apart = [&](double strength) {
    const GenerationSpec spec = With(OfGivenSteps(), {{1, 0, strength}});
    const auto generation = Begin(spec);
    while (generation->step() < generation->num_steps()) Step(*generation);
    const DenoiseState& state = static_cast<const Ltx2Generation&>(*generation).state;
    const auto first = [](const at::Tensor& x) { return x.slice(1, 0, 6); };
    return (first(state.latents.video) - first(state.pins.clean)).pow(2).mean().item<double>();
  };
  EXPECT_EQ(apart(1), 0);
  EXPECT_GT(apart(0.5), 0);
  EXPECT_GT(apart(0.1), apart(0.5));
}

TEST_F(Ltx2Conditions, AreEncodedInTheTypeOfTheModel) {
  LoadOptions options;
  options.path = folder_.path();
  options.dtype = "bf16";
  const auto in_bf16 = LoadLtx2Pipeline(options, DeviceUnderTest()->stream);
  ASSERT_TRUE(in_bf16.ok()) << in_bf16.status();
  const GenerationSpec spec = With(InTwoPasses(), {{1, 0, 0.8}, {9, 1, 0.6}});
  const Film film = Make(**in_bf16, spec), exact = Make(*pipeline_, spec);
  EXPECT_LT(RelativeError("video, bf16", film.video, exact.video), 0.1);
}

TEST_F(Ltx2Conditions, CountForTheMostTokensOfAVideo) {
  GenerationSpec spec = OfGivenSteps();
  spec.width = 1920;
  spec.height = 1088;
  spec.num_frames = 249;  // 65,280 of 65,536 tokens
  EXPECT_TRUE(pipeline_->Create(With(spec, {{1, 0, 1}}), test_.run).ok());
  EXPECT_THAT(RefusalOf(With(spec, {{1, 9, 1}})), HasSubstr("67320, the limit is 65536"));
  spec.preset = "22b-2.3-distilled-two-pass";  // at its full size
  EXPECT_THAT(RefusalOf(With(spec, {{1, 9, 1}})), HasSubstr("67320, the limit is 65536"));
}

TEST_F(Ltx2Conditions, BeginWhereALatentBegins) {
  EXPECT_THAT(RefusalOf(With(OfGivenSteps(), {{1, 5, 1}})),
              HasSubstr("conditions[0] begins at frame 5"));
  EXPECT_THAT(RefusalOf(With(OfGivenSteps(), {{1, 0, 1}, {9, 8, 1}})), HasSubstr("nearest: 9"));
}

TEST(ConditionMode, IsOfTheImagePipelineForOneFirstPictureAlone) {
  const auto mode = [](const GenerationSpec& spec) { return *ModeOf(spec); };
  EXPECT_EQ(mode(TinySpec()), Mode::kText);
  GenerationSpec spec = With(TinySpec(), {{1, 0, 1}});
  EXPECT_EQ(mode(spec), Mode::kImage);
  spec.condition_pipeline = ConditionPipeline::kCondition;
  EXPECT_EQ(mode(spec), Mode::kCondition);
  EXPECT_EQ(mode(With(TinySpec(), {{1, 0, 0.5}})), Mode::kCondition);
  spec = With(TinySpec(), {{1, 9, 1}});
  EXPECT_EQ(mode(spec), Mode::kCondition);
  spec.condition_pipeline = ConditionPipeline::kImage;
  EXPECT_EQ(ModeOf(spec).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace reel::model::ltx2
