// SPDX-License-Identifier: Apache-2.0
// Perturbed guidance and CFG*, against their formulas around diffusers' transformer and scheduler.
#include <functional>
#include <string>
#include <vector>

#include "model/ltx/denoiser.h"
#include "model/ltx/presets.h"
#include "model/pass_work.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/test_run.h"
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
  Denoiser denoiser(*transformer);
  for (int i = 0; i < kSteps; ++i) {
    denoiser.Step(ops, {&state});
    EXPECT_LT(
        Compare(name + " step " + std::to_string(i + 1), state.tokens.x, expected[i]).relative,
        1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Stars, GuidanceGolden, ::testing::Bool());

// What a GPU does with requests of one size, here on the CPU.
TEST(SharedSteps, AreNearEachOnesOwn) {
  const c10::InferenceMode no_gradients;
  const TinyFolder folder("0.9.5");
  const auto transformer = LoadTransformer(folder);
  ASSERT_TRUE(transformer.ok()) << transformer.status();
  TestRun test;
  const Ops ops(test.run);
  const auto make = [&](uint64_t seed, double scale, int steps) {
    DenoiseState state;
    state.shape = {2, 3, 5};
    state.tokens.x = Draw(seed, {1, 30, 8});
    state.tokens.coordinates = PlainCoordinates(state.shape, 25);
    state.rope = MakeRopeTable(state.tokens.coordinates, 32);
    state.schedule = *SpacedSchedule({}, steps, 30);
    state.guidance.points = {{scale, 0.7, 0, {}}};
    const int64_t rows = state.guidance.most_rows();
    state.text_has_negative = rows == 2;
    state.text = transformer->Prepare(ops, Draw(seed + 1, {rows, 6, 32}), at::ones({rows, 6}));
    return state;
  };
  std::vector<DenoiseState> alone = {make(1, 3, 4), make(5, 1, 7), make(9, 6, 5)};
  std::vector<DenoiseState> together = alone;
  Denoiser denoiser(*transformer);
  for (DenoiseState& state : alone) {
    for (int i = 0; i < 3; ++i) denoiser.Step(ops, {&state});
  }
  const std::vector<std::vector<size_t>> batches = {{0, 1, 2}, {0, 1, 2}, {2, 0}, {1}};
  for (const std::vector<size_t>& batch : batches) {
    std::vector<DenoiseState*> states;
    for (const size_t i : batch) states.push_back(&together[i]);
    for (const DenoiseState* state : states) EXPECT_TRUE(CanShareStep(*states[0], *state));
    denoiser.Step(ops, states);
  }
  for (size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(together[i].step, 3);
    EXPECT_LT(
        Compare("shared steps of " + std::to_string(i), together[i].tokens.x, alone[i].tokens.x)
            .relative,
        1e-5);
  }
}

TEST(SharedSteps, AreForThoseOfOneKind) {
  DenoiseState a;
  a.tokens.x = at::zeros({1, 30, 8});
  a.tokens.coordinates = PlainCoordinates({2, 3, 5}, 25);
  a.text.mask.bias = at::zeros({2, 1, 1, 6});
  EXPECT_TRUE(CanShareStep(a, a));
  const auto differs = [&a](const std::function<void(DenoiseState&)>& change) {
    DenoiseState b = a;
    change(b);
    return !CanShareStep(a, b) && !CanShareStep(b, a);
  };
  EXPECT_TRUE(differs([](auto& s) { s.tokens.x = at::zeros({1, 24, 8}); }));
  EXPECT_TRUE(differs([](auto& s) { s.tokens.coordinates = PlainCoordinates({2, 3, 5}, 30); }));
  EXPECT_TRUE(differs([](auto& s) { s.tokens.mask = at::zeros({1, 30}); }));
  EXPECT_TRUE(differs([](auto& s) { s.text.mask.bias = at::zeros({2, 1, 1, 8}); }));
  EXPECT_TRUE(differs([](auto& s) { s.guidance.points = {{3, 0, 1, {0}}}; }));
}

// One that fails half-way is tried again, and must then draw what it would have drawn.
TEST(SharedSteps, ChangeNothingWhenTheyFail) {
  const c10::InferenceMode no_gradients;
  const TinyFolder folder("0.9.5");
  const auto transformer = LoadTransformer(folder);
  ASSERT_TRUE(transformer.ok()) << transformer.status();
  TestRun test;
  const Ops ops(test.run);
  DenoiseState state;
  state.mode = Mode::kCondition;
  state.shape = {2, 3, 5};
  state.tokens.x = state.tokens.initial = Draw(1, {1, 30, 8});
  state.tokens.mask = at::ones({1, 30});
  state.tokens.coordinates = CausalCoordinates(state.shape, 25, 0);
  state.schedule = *SpacedSchedule({}, 4, 30);
  state.condition_noise = 0.15;
  state.generator = at::detail::createCPUGenerator(3);
  const at::Tensor text = Draw(2, {1, 6, 32});
  state.text = transformer->Prepare(ops, text, at::ones({1, 6}));
  const at::Tensor before = state.tokens.x;
  state.rope = MakeRopeTable(PlainCoordinates({1, 1, 2}, 25), 32);  // of another clip
  EXPECT_ANY_THROW(Denoiser(*transformer).Step(ops, {&state}));
  EXPECT_TRUE(state.tokens.x.is_same(before));
  EXPECT_EQ(state.step, 0);
  at::Generator fresh = at::detail::createCPUGenerator(3);
  EXPECT_TRUE(at::randn({20}, state.generator).equal(at::randn({20}, fresh)));
}

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

// Whatever a request asks for, the card knows the rows that the recipe comes to.
TEST(PresetsFor, SayWhatTheirPassesComeTo) {
  int two_passes = 0, perturbed = 0;
  for (const ModelTraits& traits :
       {ModelTraits{"0.9.5", true, 48, true}, ModelTraits{"0.9.5", false, 28, true}}) {
    ModelCard card;
    card.presets = PresetsFor(traits);
    for (const Preset& preset : card.presets) {
      for (const double scale : {0.0, 1.0, 1.5, 8.0, 20.0}) {
        GenerationSpec spec = preset.values;
        spec.preset = preset.name;
        spec.num_frames = 9;
        spec.guidance_scale = scale;
        const Recipe recipe = RecipeOf(spec);
        const std::vector<PassWork> passes = PassesOf(spec, card);
        ASSERT_EQ(passes.size(), recipe.second_pass.has_value() ? 2u : 1u) << preset.name;
        EXPECT_EQ(passes[0].steps, spec.num_steps());
        EXPECT_EQ(passes[0].rows, passes[0].tokens * recipe.guidance.most_rows())
            << preset.name << " " << scale;
        perturbed += recipe.guidance.uses_perturbed() ? 1 : 0;
        if (!recipe.second_pass.has_value()) continue;
        ++two_passes;
        EXPECT_EQ(passes[1].rows, passes[1].tokens * recipe.second_pass->guidance.most_rows())
            << preset.name << " " << scale;
        EXPECT_EQ(passes[1].steps, static_cast<int>(recipe.second_pass->timesteps.size()) - 1);
        // With which clips are refined.
        const std::vector<double>& noise = preset.passes[1].timesteps;
        EXPECT_EQ(static_cast<int>(noise.size()), passes[1].steps);
        EXPECT_EQ(noise.back(), recipe.second_pass->timesteps.back());
        EXPECT_LT(noise.front(), recipe.second_pass->timesteps.front());
      }
    }
  }
  EXPECT_EQ(two_passes, 5 * 5);
  EXPECT_GE(perturbed, 2 * 5);
}

TEST(PresetsFor, AddNothingToAPlainPass) {
  for (const Preset& preset : PresetsFor({"0.9.5", true, 48, false})) {
    EXPECT_TRUE(preset.passes.empty()) << preset.name;
  }
}

}  // namespace
}  // namespace reel::model::ltx
