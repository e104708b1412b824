// SPDX-License-Identifier: Apache-2.0
// Perturbed guidance and CFG*, against their formulas around diffusers' transformer and scheduler.
#include <string>

#include "model/ltx/denoise_state.h"
#include "model/ltx/presets.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/ltx/test_run.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model::ltx {
namespace {

constexpr int kSteps = 4;

absl::StatusOr<Transformer> LoadTransformer(const TinyFolder& folder) {
  const std::string part = folder.path() + "/transformer";
  const auto config = ReadTransformerConfig(*ReadJsonFile(part + "/config.json"), part);
  if (!config.ok()) return config.status();
  return Transformer::Load(*WeightSet::OpenFolder(part, "diffusion_pytorch_model"), *config,
                           at::kFloat, at::kCPU);
}

class GuidanceGolden : public ::testing::TestWithParam<bool> {
 protected:
  // As golden_guidance.py has it.
  DenoiseState State(const Ops& ops, const Transformer& transformer) const {
    DenoiseState state;
    state.shape = {2, 3, 5};
    state.tokens.x = Draw(51, {1, 30, 8});
    state.rope = MakeRopeTable(PlainCoordinates(state.shape, 25), 32);
    state.schedule = *SpacedSchedule({}, kSteps, 30);
    const at::Tensor text = Draw(52, {2, 6, 32});
    at::Tensor mask = at::zeros({2, 6});
    mask.slice(1, 0, 1).fill_(1);
    mask.slice(0, 1).slice(1, 0, 4).fill_(1);
    const auto with_twin = [](const at::Tensor& t) { return at::cat({t, t.slice(0, 1)}); };
    state.text = transformer.Prepare(ops, with_twin(text), with_twin(mask));
    state.text_has_negative = true;
    state.guidance.from = {1.0, 0.6, 0.3};
    state.guidance.points = {{1, 0, 0, {}}, {3, 0.7, 1.5, {1}}, {1, 0, 1, {0, 1}}};
    state.guidance.star = GetParam();
    return state;
  }

  const c10::InferenceMode no_gradients_;
};

TEST_P(GuidanceGolden, EqualsTheFormulasAfterEveryStep) {
  const TinyFolder folder("0.9.5");
  const auto transformer = LoadTransformer(folder);
  ASSERT_TRUE(transformer.ok()) << transformer.status();
  TestRun test;
  const Ops ops(test.run);
  DenoiseState state = State(ops, *transformer);
  const std::string name = GetParam() ? "star" : "plain";
  const at::Tensor expected = Golden::In("guidance")[name];
  for (int i = 0; i < kSteps; ++i) {
    DenoiseStep(ops, *transformer, state);
    EXPECT_LT(
        Compare(name + " step " + std::to_string(i + 1), state.tokens.x, expected[i]).relative,
        1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Stars, GuidanceGolden, ::testing::Bool());

TEST(Guidance, TakesThePointOfTheSigma) {
  Guidance guidance;
  guidance.from = {1.0, 0.9, 0.5};
  guidance.points = {{1, 0, 0, {}}, {6, 0, 4, {3}}, {1, 0, 2, {3}}};
  EXPECT_EQ(guidance.At(1.0).scale, 1);
  EXPECT_EQ(guidance.At(0.95).scale, 6);
  EXPECT_EQ(guidance.At(0.5).perturbed_scale, 2);
  EXPECT_EQ(guidance.At(0.1).perturbed_scale, 2);  // below all: the last
  EXPECT_EQ(guidance.most_rows(), 3);
  EXPECT_EQ(Guidance().most_rows(), 1);
}

TEST(Recipe, IsPlainGuidanceWithoutAPresetThatSaysMore) {
  for (const char* preset : {"", "2b-0.9.5", "13b-0.9.8-dev"}) {
    GenerationSpec spec;
    spec.preset = preset;
    spec.guidance_scale = 4;
    spec.guidance_rescale = 0.5;
    const Recipe recipe = RecipeOf(spec);
    EXPECT_FALSE(recipe.second_pass.has_value()) << preset;
    EXPECT_FALSE(recipe.guidance.star);
    ASSERT_EQ(recipe.guidance.points.size(), 1u);
    EXPECT_EQ(recipe.guidance.points[0], (GuidancePoint{4, 0.5, 0, {}})) << preset;
  }
}

TEST(Recipe, PerturbsWhereThePresetSaysSo) {
  GenerationSpec spec;
  spec.preset = "2b-0.9.6-dev-stg";
  spec.guidance_scale = 3;
  spec.guidance_rescale = 0.7;
  EXPECT_EQ(RecipeOf(spec).guidance.points[0], (GuidancePoint{3, 0.7, 1, {19}}));
}

// Which asks for what is on the list at its strongest.
TEST(Recipe, FollowsTheRequestsScaleAlongTheList) {
  GenerationSpec spec;
  spec.preset = "13b-0.9.8-dev-two-pass";
  spec.guidance_scale = 8;
  spec.guidance_rescale = 0.5;
  const Recipe as_listed = RecipeOf(spec);
  EXPECT_TRUE(as_listed.guidance.star);
  EXPECT_EQ(as_listed.guidance.At(0.9933), (GuidancePoint{6, 0.5, 4, {22, 35, 39}}));
  EXPECT_EQ(as_listed.guidance.At(0.985), (GuidancePoint{8, 0.5, 4, {28}}));
  EXPECT_EQ(as_listed.second_pass->timesteps.size(), 14u);  // one that is not run, and 13
  EXPECT_EQ(as_listed.second_pass->guidance.points[0], (GuidancePoint{1, 0, 1, {27}}));
  spec.guidance_scale = 1;
  EXPECT_FALSE(RecipeOf(spec).guidance.uses_negative());
  EXPECT_TRUE(RecipeOf(spec).guidance.uses_perturbed());
}

std::vector<std::string> Names(const ModelTraits& traits) {
  std::vector<std::string> names;
  for (const Preset& preset : PresetsFor(traits)) names.push_back(preset.name);
  return names;
}

TEST(PresetsFor, OffersWhatTheModelHasThePartsFor) {
  const std::vector<std::string> large = {"13b-0.9.7-dev",       "13b-0.9.7-dev-two-pass",
                                          "13b-0.9.7-distilled", "13b-0.9.7-distilled-two-pass",
                                          "13b-0.9.8-dev",       "13b-0.9.8-dev-two-pass",
                                          "13b-0.9.8-distilled", "13b-0.9.8-distilled-two-pass"};
  EXPECT_EQ(Names({"0.9.5", true, 48, true}), large);
  EXPECT_EQ(Names({"0.9.0", false, 28, false}),
            (std::vector<std::string>{"2b-0.9.0", "2b-0.9.0-stg"}));
  // A smaller model has not the blocks that are perturbed.
  EXPECT_EQ(Names({"0.9.0", false, 12, true}), (std::vector<std::string>{"2b-0.9.0"}));
}

}  // namespace
}  // namespace reel::model::ltx
