// SPDX-License-Identifier: Apache-2.0
// Films in two passes, against diffusers, and as the engine drives them.
#include "model/ltx2/second_pass.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx2/ltx2_pipeline.h"
#include "model/pass_work.h"
#include "model/resolve.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/temp_folder.h"
#include "tests/unit/model/bridge/device_under_test.h"
#include "tests/unit/model/ltx/pipeline_run.h"
#include "tests/unit/model/ltx2/film.h"
#include "tests/unit/model/ltx2/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

using ::testing::HasSubstr;

// golden_ltx2_passes.py keeps one of so many values.
constexpr int64_t kEveryFrameValue = 97, kEveryWaveValue = 31;
constexpr int kFirstSteps = 3, kSecondSteps = 3;

GenerationSpec TwoPassSpec(const std::string& preset = "22b-2.3-distilled-two-pass") {
  GenerationSpec spec = TinySpec();
  spec.preset = preset;
  spec.width = 192;
  spec.height = 128;
  spec.num_inference_steps = 0;
  spec.timesteps = {1000, 909.375, 421.875};
  return spec;
}

struct PassCase {
  const char *film, *variant, *upsampler, *preset;
  int height;
};

class TwoPassGolden : public ::testing::TestWithParam<PassCase> {};

TEST_P(TwoPassGolden, EqualsTheFilmOfDiffusers) {
  const auto& [name, variant, upsampler, preset, height] = GetParam();
  const TinyFolder folder(variant, Scheduler::kStatic);
  folder.AddUpsampler(upsampler);
  const auto pipeline = LoadTiny(folder);
  ASSERT_NE(pipeline, nullptr);
  GenerationSpec spec = TwoPassSpec(preset);
  spec.height = height;
  const TestRun test;
  const auto generation = ltx::Begin(*pipeline, spec, test.run);
  ASSERT_NE(generation, nullptr);
  for (int step = 0; step < kFirstSteps; ++step) {
    ltx::StepAll(*pipeline, {generation.get()}, test.run);
  }
  const Film first = TokensOf(*pipeline, *generation);
  const Film film = Made(*pipeline, *generation);
  const Golden golden = Golden::In(std::string("ltx2/two_passes/") + name);
  EXPECT_LT(RelativeError("first.video", first.video, golden["first.video"]), 1e-5);
  EXPECT_LT(RelativeError("first.audio", first.audio, golden["first.audio"]), 1e-5);
  EXPECT_LT(RelativeError("video", film.video, golden["video"]), 1e-5);
  EXPECT_LT(RelativeError("audio", film.audio, golden["audio"]), 1e-5);
  EXPECT_LT(RelativeError("frames", film.frames.flatten().slice(0, 0, {}, kEveryFrameValue),
                          golden["frames"]),
            1e-5);
  EXPECT_LT(
      RelativeError("wave", film.wave.flatten().slice(0, 0, {}, kEveryWaveValue), golden["wave"]),
      5e-5);
}

INSTANTIATE_TEST_SUITE_P(
    Films, TwoPassGolden,
    ::testing::Values(PassCase{"2.0", "2.0", "rational-x2", "19b-2.0-distilled-two-pass", 128},
                      PassCase{"2.3", "2.3", "x2", "22b-2.3-distilled-two-pass", 128},
                      PassCase{"2.3-x1.5", "2.3", "rational-x1.5", "22b-2.3-distilled-two-pass",
                               96},
                      PassCase{"2.5", "2.5", "x2", "22b-2.5-distilled-two-pass", 128}),
    [](const auto& given) { return "of_case_" + std::to_string(given.index); });

class Ltx2TwoPass : public DistilledFilmTest {
 protected:
  std::unique_ptr<Generation> Begin() { return ltx::Begin(*pipeline_, TwoPassSpec(), test_.run); }
  void ExpectSameFilm(Generation& generation) {
    const Film film = Make(*pipeline_, TwoPassSpec()), other = Made(*pipeline_, generation);
    EXPECT_TRUE(at::equal(other.frames, film.frames));
    EXPECT_TRUE(at::equal(other.wave, film.wave));
  }
};

TEST_F(Ltx2TwoPass, TellsTheStepsAndRowsThatItsCardGives) {
  const std::vector<PassWork> passes = PassesOf(TwoPassSpec(), pipeline_->card());
  ASSERT_EQ(passes.size(), 2u);
  EXPECT_EQ(passes[0], (PassWork{96, 64, 18, 18, kFirstSteps}));
  EXPECT_EQ(passes[1], (PassWork{192, 128, 72, 72, kSecondSteps}));
  const auto generation = Begin();
  ASSERT_NE(generation, nullptr);
  for (int step = 0; step < kFirstSteps + kSecondSteps; ++step) {
    EXPECT_EQ(generation->step(), step);
    EXPECT_EQ(generation->num_steps(), kFirstSteps + kSecondSteps);
    EXPECT_EQ(generation->rows(), passes[step < kFirstSteps ? 0 : 1].rows) << step;
    Step(*generation);
  }
  EXPECT_EQ(generation->step(), kFirstSteps + kSecondSteps);
}

TEST_F(Ltx2TwoPass, ResumesBetweenTheStepsOfEitherPassAndBetweenThePasses) {
  for (const int parked_behind : {1, kFirstSteps, kFirstSteps + 1}) {
    const auto generation = Begin();
    ASSERT_NE(generation, nullptr);
    for (int step = 0; step < parked_behind; ++step) Step(*generation);
    ASSERT_TRUE(generation->Park(true).ok());
    ASSERT_TRUE(generation->Resume().ok());
    ExpectSameFilm(*generation);
  }
}

TEST_F(Ltx2TwoPass, StepsInPiecesAndCanBeDroppedInEitherPass) {
  const auto generation = Begin();
  ASSERT_NE(generation, nullptr);
  while (generation->step() < generation->num_steps()) {
    Generation* const batch[] = {generation.get()};
    const int before = generation->step();
    const auto dropped = pipeline_->BeginStep(batch, 48, test_.run);
    EXPECT_FALSE(dropped->Next(test_.run).has_value());  // and never goes on
    EXPECT_EQ(generation->step(), before);
    const auto step = pipeline_->BeginStep(batch, 48, test_.run);
    auto results = step->Next(test_.run);
    while (!results.has_value()) results = step->Next(test_.run);
    ASSERT_TRUE(results->at(0).ok()) << results->at(0);
  }
  ExpectSameFilm(*generation);
}

TEST_F(Ltx2TwoPass, ShowsPicturesOfEitherPass) {
  const auto generation = Begin();
  ASSERT_NE(generation, nullptr);
  for (int step = 0; step < kFirstSteps + 1; ++step) {
    Step(*generation);
    const auto picture = pipeline_->Preview(*generation, 48, test_.run);
    ASSERT_TRUE(picture.ok()) << picture.status();
    EXPECT_EQ(picture->width, 48);
    EXPECT_EQ(picture->height, 32);
  }
  ExpectSameFilm(*generation);
}

TEST_F(Ltx2TwoPass, UpsamplesInTheTypeOfTheModel) {
  LoadOptions options;
  options.path = folder_.path();
  options.dtype = "bf16";
  const auto in_bf16 = LoadLtx2Pipeline(options, DeviceUnderTest()->stream);
  ASSERT_TRUE(in_bf16.ok()) << in_bf16.status();
  const Film film = Make(**in_bf16, TwoPassSpec()), exact = Make(*pipeline_, TwoPassSpec());
  EXPECT_LT(RelativeError("video, bf16", film.video, exact.video), 0.1);
}

TEST_F(Ltx2TwoPass, RefusesSidesThatTheFirstPassWouldCut) {
  for (const int side : {32, 96}) {
    GenerationSpec spec = TwoPassSpec();
    spec.width = side;
    const auto status = pipeline_->Create(spec, test_.run).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("sides are multiples of 64 from 64"));
    const Resolution resolved = Resolve(spec, pipeline_->card(), {}, 1);
    ASSERT_EQ(resolved.violations.size(), 1u);
    EXPECT_EQ(resolved.violations[0].field, "width");
  }
}

// Those want an adapter in a pass.
TEST_F(Ltx2TwoPass, RefusesRecipesWithAdaptersByName) {
  for (const char* preset : {"22b-2.3-dev-two-pass", "22b-2.3-hq"}) {
    const Resolution resolved = Resolve(TwoPassSpec(preset), pipeline_->card(), {}, 1);
    ASSERT_EQ(resolved.violations.size(), 1u);
    EXPECT_EQ(resolved.violations[0].field, "preset");
    EXPECT_THAT(resolved.violations[0].description, HasSubstr(preset));
  }
}

TEST_F(Ltx2TwoPass, TakesAnUpsamplerInOneFileInTheWordsOfItsRelease) {
  folder_.Remove("latent_upsampler");
  folder_.AddUpsamplerFile("x2", {{"_class_name", "LatentUpsampler"},
                                  {"in_channels", 8},
                                  {"mid_channels", 32},
                                  {"num_blocks_per_stage", 1},
                                  {"dims", 3},
                                  {"spatial_upsample", true},
                                  {"temporal_upsample", false},
                                  {"spatial_scale", 2.0}});
  const auto other = LoadTiny(folder_);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(other->card().parameters, pipeline_->card().parameters);
  EXPECT_TRUE(
      at::equal(Make(*other, TwoPassSpec()).frames, Make(*pipeline_, TwoPassSpec()).frames));
  // The same file elsewhere, as a part.
  const reel::testing::TempFolder elsewhere;
  LoadOptions options;
  options.name = "tiny";
  options.dtype = "fp32";
  options.path = folder_.path();
  options.parts = {{ModelPart::kUpsampler, elsewhere.File("x2.safetensors")}};
  const std::string beside = folder_.path() + "/latent_upsampler.safetensors";
  std::filesystem::copy_file(beside, options.parts[0].path);
  EXPECT_THAT(std::string(LoadLtx2Pipeline(options, DeviceUnderTest()->stream).status().message()),
              HasSubstr("two files bring the part upsampler"));
  std::filesystem::remove(beside);
  const auto part = LoadLtx2Pipeline(options, DeviceUnderTest()->stream);
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_EQ((*part)->card().parameters, pipeline_->card().parameters);
}

TEST_F(Ltx2TwoPass, RefusesAnUpsamplerThatMakesMoreFrames) {
  folder_.Remove("latent_upsampler");
  folder_.AddUpsampler("temporal");
  LoadOptions options;
  options.path = folder_.path();
  const absl::Status status = CheckLtx2Model(options, DeviceUnderTest()->stream).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("temporal_upsample is true"));
}

TEST_F(Ltx2TwoPass, IsOfferedByDistilledModelsWithAnUpsamplerAlone) {
  const auto presets = [](const ModelCard& card) {
    std::vector<std::string> names;
    for (const Preset& preset : card.presets) names.push_back(preset.name);
    return names;
  };
  EXPECT_THAT(presets(pipeline_->card()),
              ::testing::ElementsAre("22b-2.3-distilled", "22b-2.3-distilled-two-pass"));
  const TinyFolder dev("2.3");
  dev.AddUpsampler("x2");
  const auto guided = LoadTiny(dev);
  ASSERT_NE(guided, nullptr);
  EXPECT_THAT(presets(guided->card()), ::testing::ElementsAre("22b-2.3-dev"));
  GenerationSpec spec = TwoPassSpec();
  spec.timesteps.clear();
  spec.num_inference_steps = 3;
  EXPECT_EQ(guided->Create(spec, test_.run).status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace reel::model::ltx2
