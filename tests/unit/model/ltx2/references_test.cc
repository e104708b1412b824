// SPDX-License-Identifier: Apache-2.0
// Films with the reference clip of an adapter (IC-LoRA), against diffusers, and as the engine
// drives them.
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx2/ltx2_generation.h"
#include "model/pass_work.h"
#include "model/reference_clip.h"
#include "model/resolve.h"
#include "tests/unit/model/family/kept_draft.h"
#include "tests/unit/model/ltx/pipeline_run.h"
#include "tests/unit/model/ltx2/film.h"
#include "tests/unit/model/ltx2/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

using ::testing::HasSubstr;

// golden_ltx2_references.py keeps one of so many values.
constexpr int64_t kFramesKept = 97, kWaveKept = 31;
// Bounds of fp32, on any processor: 1.4e-6 was seen of guided latents, 3e-7 of others.
constexpr double kFrameBound = 1e-5, kWaveBound = 5e-5;

// diffusers computed on a CPU.
double LatentBound() { return OnCpus() ? 4e-6 : 1e-5; }

// Pictures as golden_ltx2_conditions.py draws them.
Condition PicturesOf(int frames, int index, int width, int height) {
  ConditionPixels pixels = {width, height, frames, {}};
  for (int frame = 0; frame < frames; ++frame) {
    for (int place = 0; place < width * height; ++place) {
      for (int channel = 0; channel < 3; ++channel) {
        const int value = (channel * width * height + place) * (frame + 1 + index) % 251;
        pixels.rgb.push_back(static_cast<uint8_t>(value));
      }
    }
  }
  Condition condition;
  condition.kind = frames == 1 ? Condition::Kind::kImage : Condition::Kind::kVideo;
  condition.pixels = std::make_shared<const ConditionPixels>(std::move(pixels));
  return condition;
}

// As a worker has a request: decoded, and with the files that the server has looked up.
GenerationSpec WithReference(GenerationSpec spec, ReferenceScale scale, int frames,
                             double strength = 1) {
  spec.adapters = {{.name = "style",
                    .scale = 0.7,
                    .path = std::string(std::getenv("REEL_SOURCE")) +
                            "/tests/golden/adapters/ltx2/style.safetensors",
                    .reference = scale}};
  Condition clip = PicturesOf(frames, 6, spec.width / scale.sides, spec.height / scale.sides);
  clip.kind = Condition::Kind::kVideo;
  clip.use = Condition::Use::kReference;
  clip.strength = strength;
  // Whatever the caller's order, its tokens come last.
  spec.conditions.insert(spec.conditions.begin(), clip);
  return spec;
}

GenerationSpec OfSize(int width, int height, int frames) {
  GenerationSpec spec = TinySpec();
  spec.frame_rate = 25;
  spec.width = width;
  spec.height = height;
  spec.num_frames = frames;
  return spec;
}

GenerationSpec OfGivenSteps(int width = 96, int height = 64, int frames = 17) {
  GenerationSpec spec = OfSize(width, height, frames);
  spec.num_inference_steps = 0;
  spec.timesteps = {993.75, 725, 421.875};
  return spec;
}

GenerationSpec WithAllGuidance() {
  GenerationSpec spec = OfSize(96, 64, 17);
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

GenerationSpec BesideOtherConditions() {
  GenerationSpec spec = OfGivenSteps();
  spec.conditions = {PicturesOf(1, 0, 96, 64), PicturesOf(9, 1, 96, 64)};
  spec.conditions[1].frame_index = 1;
  spec.conditions[1].strength = 0.6;
  return spec;
}

GenerationSpec InTwoPasses() {
  GenerationSpec spec = OfGivenSteps(256, 128);
  spec.preset = "22b-2.3-distilled-two-pass";
  spec.timesteps = {1000, 909.375, 421.875};
  return spec;
}

GenerationSpec WithAttention(GenerationSpec spec, double strength) {
  spec = WithReference(std::move(spec), {2, 1}, 17);
  spec.conditions[0].attention_strength = strength;
  return spec;
}

std::unique_ptr<Pipeline> LoadWithRoom(const TinyFolder& folder) {
  LoadOptions options;
  options.adapter_ranks = 32;
  return LoadTiny(folder, options);
}

// With the tokens that conditions add, as the golden has them.
at::Tensor AllTokensOf(const Generation& generation) {
  return static_cast<const Ltx2Generation&>(generation).state.latents.video[0].to(at::kCPU);
}

struct ReferenceCase {
  const char* film;
  GenerationSpec spec;
};

void PrintTo(const ReferenceCase& one, std::ostream* out) { *out << one.film; }

std::vector<ReferenceCase> AllReferences() {
  return {{"guided", WithReference(WithAllGuidance(), {1, 1}, 17)},
          {"half", WithReference(OfGivenSteps(128, 64), {2, 1}, 17, 0.6)},
          {"slow", WithReference(OfGivenSteps(96, 64, 33), {1, 4}, 9)},
          {"half-slow", WithReference(OfGivenSteps(128, 64, 33), {2, 4}, 9)},
          {"short", WithReference(BesideOtherConditions(), {1, 1}, 9, 0.8)},
          {"two-passes", WithReference(InTwoPasses(), {2, 1}, 17)}};
}

class ReferenceGolden : public ::testing::TestWithParam<ReferenceCase> {};

TEST_P(ReferenceGolden, EqualsTheFilmOfDiffusers) {
  const auto& [name, spec] = GetParam();
  const TinyFolder folder("2.3", spec.timesteps.empty() ? Scheduler::kDynamic : Scheduler::kStatic);
  if (!spec.preset.empty()) folder.AddUpsampler("x2");
  const auto pipeline = LoadWithRoom(folder);
  ASSERT_NE(pipeline, nullptr);
  const TestRun test;
  const auto generation = ltx::Begin(*pipeline, spec, test.run);
  ASSERT_NE(generation, nullptr);
  const Golden golden = Golden::In(std::string("ltx2/references/") + name);
  for (int step = 0; step < kTinySteps; ++step) {
    ltx::StepAll(*pipeline, {generation.get()}, test.run);
  }
  if (golden.Has("first.video")) {
    EXPECT_LT(RelativeError("first.video", AllTokensOf(*generation), golden["first.video"]),
              LatentBound());
    EXPECT_LT(
        RelativeError("first.audio", TokensOf(*pipeline, *generation).audio, golden["first.audio"]),
        LatentBound());
  }
  const Film film = Made(*pipeline, *generation);
  EXPECT_LT(RelativeError("video", AllTokensOf(*generation), golden["video"]), LatentBound());
  EXPECT_LT(RelativeError("audio", film.audio, golden["audio"]), LatentBound());
  EXPECT_LT(
      RelativeError("frames", film.frames.flatten().slice(0, 0, {}, kFramesKept), golden["frames"]),
      kFrameBound);
  EXPECT_LT(RelativeError("wave", film.wave.flatten().slice(0, 0, {}, kWaveKept), golden["wave"]),
            kWaveBound);
}

INSTANTIATE_TEST_SUITE_P(Films, ReferenceGolden, ::testing::ValuesIn(AllReferences()),
                         [](const auto& given) { return "case_" + std::to_string(given.index); });

class Ltx2References : public DistilledFilmTest {
 protected:
  void SetUp() override {
    DistilledFilmTest::SetUp();
    if (IsSkipped()) return;
    pipeline_ = LoadWithRoom(folder_);
    ASSERT_NE(pipeline_, nullptr);
  }
  std::unique_ptr<Generation> Begin(const GenerationSpec& spec) {
    return ltx::Begin(*pipeline_, spec, test_.run);
  }
  std::string RefusalOf(const GenerationSpec& spec) {
    const auto status = pipeline_->Create(spec, test_.run).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    return std::string(status.message());
  }
};

TEST_F(Ltx2References, HaveTheTokensThatAdmissionCounts) {
  const GenerationSpec spec = WithReference(InTwoPasses(), {2, 1}, 17);
  const auto generation = Begin(spec);
  ASSERT_NE(generation, nullptr);
  const std::vector<PassWork> passes = PassesOf(spec, pipeline_->card());
  EXPECT_EQ(passes[1].tokens, 3 * (8 * 4 + 4 * 2));
  EXPECT_EQ(generation->rows(), passes[0].rows);
  for (int step = 0; step < kTinySteps; ++step) Step(*generation);
  EXPECT_EQ(generation->rows(), passes[1].rows);
  Step(*generation);
  EXPECT_EQ(generation->rows(), passes[1].rows);
  EXPECT_EQ(AllTokensOf(*generation).size(0), passes[1].tokens);
}

TEST_F(Ltx2References, OfFullStrengthStayAsTheyWereEncodedAndLeaveTheFilm) {
  const auto generation = Begin(WithReference(OfGivenSteps(), {1, 1}, 17));
  ASSERT_NE(generation, nullptr);
  const auto& state = static_cast<const Ltx2Generation&>(*generation).state;
  const int64_t own = 3 * 2 * 3;
  const at::Tensor before = state.latents.video.slice(1, own).clone();
  EXPECT_EQ(before.size(1), own);
  while (generation->step() < generation->num_steps()) Step(*generation);
  EXPECT_TRUE(at::equal(state.latents.video.slice(1, own), before));
  EXPECT_EQ(TokensOf(*pipeline_, *generation).video.size(0), own);
  ASSERT_TRUE(pipeline_->Preview(*generation, 48, test_.run).ok());
}

TEST_F(Ltx2References, OfALowerStrengthAreLessInTheFilm) {
  const Film none = Make(*pipeline_, WithReference(OfGivenSteps(), {1, 1}, 17, 0));
  const Film half = Make(*pipeline_, WithReference(OfGivenSteps(), {1, 1}, 17, 0.5));
  const Film full = Make(*pipeline_, WithReference(OfGivenSteps(), {1, 1}, 17, 1));
  EXPECT_GT(RelativeError("half", half.video, full.video), 1e-3);
  EXPECT_GT(RelativeError("none", none.video, half.video), 1e-3);
}

TEST_F(Ltx2References, OfALowerAttentionAreLessInTheFilmInBothPasses) {
  const Film unset = Make(*pipeline_, WithReference(InTwoPasses(), {2, 1}, 17));
  const Film all = Make(*pipeline_, WithAttention(InTwoPasses(), 1));
  EXPECT_TRUE(at::equal(all.video, unset.video));
  EXPECT_TRUE(at::equal(all.wave, unset.wave));
  const auto generation = Begin(WithAttention(InTwoPasses(), 0.25));
  ASSERT_NE(generation, nullptr);
  const auto& references = static_cast<const Ltx2Generation&>(*generation).state.references;
  const auto is_in_pass = [&](int64_t own) {
    return references.own_tokens == own && references.clips.size() == 1 &&
           references.clips[0].first == own && references.clips[0].count == own / 4 &&
           references.clips[0].strength == 0.25;
  };
  EXPECT_TRUE(is_in_pass(3 * 4 * 2));
  while (generation->step() < generation->num_steps()) Step(*generation);
  EXPECT_TRUE(is_in_pass(3 * 8 * 4));
  const Film quarter = Made(*pipeline_, *generation);
  const Film none = Make(*pipeline_, WithAttention(InTwoPasses(), 0));
  EXPECT_GT(RelativeError("quarter", quarter.video, all.video), 1e-3);
  EXPECT_GT(RelativeError("none", none.video, quarter.video), 1e-3);
}

TEST_F(Ltx2References, SurviveParkingAndPieces) {
  GenerationSpec spec = WithReference(InTwoPasses(), {2, 1}, 17, 0.8);
  spec.conditions[0].attention_strength = 0.5;
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
  const Film made = Made(*pipeline_, *generation);
  EXPECT_TRUE(at::equal(made.frames, film.frames));
  EXPECT_TRUE(at::equal(made.wave, film.wave));
}

TEST_F(Ltx2References, OfADraftAreInItsPromotionToo) {
  const GenerationSpec spec = WithAttention(InTwoPasses(), 0.5);
  const Film whole = Make(*pipeline_, spec);
  GenerationSpec draft = spec;
  draft.stop_after_pass = 1;
  const auto first = Begin(draft);
  ASSERT_NE(first, nullptr);
  while (first->step() < first->num_steps()) Step(*first);
  const auto state = pipeline_->State(*first);
  ASSERT_TRUE(state.ok()) << state.status();
  GenerationSpec promotion = spec;
  promotion.source = Source{.video = "videos/draft", .begin = Source::Begin::kPromote};
  auto rest = pipeline_->CreateFrom(promotion, *state, test_.run);
  ASSERT_TRUE(rest.ok()) << rest.status();
  for (bool ready = false; !ready;) ready = *pipeline_->BeginNext(**rest, test_.run);
  EXPECT_TRUE(at::equal(Made(*pipeline_, **rest).frames, whole.frames));
}

// Rows of a step have one length and the same places.
TEST_F(Ltx2References, ShareStepsWithVideosWhoseReferencesLieInTheSamePlacesAlone) {
  const auto state = [&](const GenerationSpec& spec) {
    return static_cast<const Ltx2Generation&>(*Begin(spec)).state;
  };
  const DenoiseState one = state(WithReference(OfGivenSteps(128, 64), {2, 1}, 17));
  GenerationSpec other = OfGivenSteps(128, 64);
  other.seed = 5;
  EXPECT_TRUE(CanShareStep(one, state(WithReference(other, {2, 1}, 17, 0.5))));
  EXPECT_FALSE(CanShareStep(one, state(other)));
  EXPECT_FALSE(CanShareStep(one, state(WithAttention(other, 0.5))));
  EXPECT_FALSE(CanShareStep(one, state(WithReference(other, {1, 1}, 17))));
  EXPECT_FALSE(CanShareStep(one, state(WithReference(other, {2, 1}, 9))));
  EXPECT_FALSE(CanShareStep(one, state(WithReference(other, {2, 2}, 17))));
}

TEST_F(Ltx2References, AreRefusedOfOtherSizesAndWithoutTheirAdapter) {
  GenerationSpec spec = WithReference(OfGivenSteps(128, 64), {2, 1}, 17);
  spec.adapters[0].reference = ReferenceScale{1, 1};
  EXPECT_THAT(RefusalOf(spec),
              HasSubstr("conditions[0] is 64x32 pixels after scaling, the adapter wants 128x64"));
  spec.adapters[0].reference.reset();
  EXPECT_THAT(RefusalOf(spec), HasSubstr("conditions[0] is a reference, but no adapter wants one"));
  EXPECT_THAT(RefusalOf(WithReference(OfGivenSteps(96, 64), {2, 1}, 17)),
              HasSubstr("no multiples of those of its reference clip: a pass is 96x64"));
}

TEST_F(Ltx2References, TellThatTheyEndEarly) {
  const auto generation = Begin(WithReference(OfGivenSteps(), {1, 1}, 9));
  ASSERT_NE(generation, nullptr);
  std::vector<std::string> codes;
  for (const Notice& notice : generation->text_facts().notices) codes.push_back(notice.code);
  EXPECT_THAT(codes, ::testing::Contains("REFERENCE_CLIP_ENDS_EARLY"));
}

}  // namespace
}  // namespace reel::model::ltx2
