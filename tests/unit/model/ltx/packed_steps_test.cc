// SPDX-License-Identifier: Apache-2.0
// Clips of different sizes in one call of the transformer: what a GPU does with them, here on the
// CPU, against each one's own steps.
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/bridge/row_ops.h"
#include "model/ltx/denoiser.h"
#include "model/ltx/step_groups.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model::ltx {
namespace {

// Places, guidance, text and how far a clip is along a schedule of its own.
struct Asked {
  LatentShape shape;
  uint64_t seed = 0;
  double scale = 1;
  int steps = 4;
  int64_t text_tokens = 6, counted = 6;  // of the prompt; the negative one has one that counts
  bool pinned = false;
};

// The oracle of each operator that has one: what a row becomes does not depend on which rows stand
// beside it. linear_gelu has libtorch's alone, and MKL held to plain x86-64 adds the products of a
// row in another order where there are more rows.
kernels::KernelPlan ByLoops(const std::string& profile) {
  const kernels::KernelCatalog& catalog = DeviceUnderTest()->catalog;
  std::map<std::string, std::string> variants;
  for (const char* op :
       {"rms_norm", "linear", "adaln_rms_norm", "adaln_layer_norm", "gate_residual",
        "gate_residual_adaln", "qk_norm_rope", "activation", "attention", "cross_attention"}) {
    variants.emplace(op, "loops");
  }
  return *catalog.Plan(profile, variants);
}

class PackedSteps : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string part = folder_.path() + "/transformer";
    const auto config = ReadTransformerConfig(*ReadJsonFile(part + "/config.json"), part);
    ASSERT_TRUE(config.ok()) << config.status();
    auto loaded = Transformer::Load(*WeightSet::OpenFolder(part, "diffusion_pytorch_model"),
                                    *config, at::kFloat, at::kCPU);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    transformer_.emplace(*std::move(loaded));
  }

  DenoiseState Make(const Ops& ops, const Asked& asked) const {
    DenoiseState state;
    state.mode = asked.pinned ? Mode::kCondition : Mode::kText;
    state.shape = asked.shape;
    const int64_t tokens = asked.shape.tokens();
    state.tokens.x = Draw(asked.seed, {1, tokens, 8});
    if (asked.pinned) {
      state.tokens.mask = at::zeros({1, tokens});
      state.tokens.mask.slice(1, 0, 2).fill_(1);
      state.tokens.initial = state.tokens.x;
      state.generator = at::detail::createCPUGenerator(asked.seed);
    }
    state.tokens.coordinates = PlainCoordinates(state.shape, 25);
    state.rope = MakeRopeTable(state.tokens.coordinates, 32);
    state.schedule = *SpacedSchedule({}, asked.steps, 30);
    state.guidance.points = {{asked.scale, 0.7, 0, {}}};
    const int64_t rows = state.guidance.most_rows();
    state.text_has_negative = rows == 2;
    at::Tensor mask = at::zeros({rows, asked.text_tokens});
    mask.slice(0, rows - 1).slice(1, 0, asked.counted).fill_(1);
    mask.slice(1, 0, 1).fill_(1);
    state.text =
        transformer_->Prepare(ops, Draw(asked.seed + 1, {rows, asked.text_tokens, 32}), mask);
    return state;
  }

  // Three sizes, with and without guidance, texts of other lengths, one of one counted token.
  std::vector<DenoiseState> Videos(const Ops& ops) const {
    return {Make(ops, {.shape = {2, 3, 5}, .seed = 1, .scale = 3}),
            Make(ops, {.shape = {1, 2, 3}, .seed = 5, .steps = 7, .counted = 4}),
            Make(ops, {.shape = {2, 2, 2}, .seed = 9, .scale = 6, .text_tokens = 9}),
            Make(ops, {.shape = {2, 3, 5}, .seed = 13, .scale = 2, .steps = 6}),
            Make(ops, {.shape = {1, 1, 4}, .seed = 17, .counted = 1}),
            Make(ops, {.shape = {2, 2, 2}, .seed = 21, .scale = 4, .pinned = true})};
  }

  // After three steps each, each time with other videos in the batch.
  static void StepTogether(const Ops& ops, Denoiser& denoiser, std::vector<DenoiseState>& all) {
    const std::vector<std::vector<size_t>> batches = {
        {0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}, {5, 2}, {4, 0}, {1, 3}};
    for (const std::vector<size_t>& batch : batches) {
      std::vector<DenoiseState*> states;
      for (const size_t i : batch) states.push_back(&all[i]);
      denoiser.Step(ops, states);
    }
  }

  const c10::InferenceMode no_gradients_;
  const TinyFolder folder_{"0.9.5"};
  std::optional<Transformer> transformer_;
};

TEST_F(PackedSteps, AreEachOnesOwnWhereRowsAre) {
  const kernels::KernelPlan plan = ByLoops("auto");
  kernels::KernelCounters counters;
  const kernels::Execution run{plan, counters, nullptr, DeviceUnderTest()->stream};
  const Ops ops(run);
  std::vector<DenoiseState> alone = Videos(ops), together = alone;
  Denoiser denoiser(*transformer_);
  for (DenoiseState& state : alone) {
    for (int i = 0; i < 3; ++i) denoiser.Step(ops, {&state});
  }
  StepTogether(ops, denoiser, together);
  for (size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(together[i].step, 3);
    EXPECT_LT(
        Compare("packed oracles of " + std::to_string(i), together[i].tokens.x, alone[i].tokens.x)
            .relative,
        1e-6);
  }
}

TEST_F(PackedSteps, AreNearEachOnesOwnWhateverAddsTheirProducts) {
  for (const PlanSource source : {PlanSource::kLibtorch, PlanSource::kKernels}) {
    TestRun test(source);
    const Ops ops(test.run);
    std::vector<DenoiseState> alone = Videos(ops), together = alone;
    Denoiser denoiser(*transformer_);
    for (DenoiseState& state : alone) {
      for (int i = 0; i < 3; ++i) denoiser.Step(ops, {&state});
    }
    StepTogether(ops, denoiser, together);
    for (size_t i = 0; i < alone.size(); ++i) {
      EXPECT_LT(
          Compare("packed steps of " + std::to_string(i), together[i].tokens.x, alone[i].tokens.x)
              .relative,
          1e-5);
    }
  }
}

// The same codes and scales: rows are brought to 8 bits one by one.
TEST_F(PackedSteps, AreNearEachOnesOwnInEightBits) {
  ASSERT_TRUE(transformer_->MakeLayersIn(RowForm::kE4m3).ok());
  const kernels::KernelPlan plan = *DeviceUnderTest()->catalog.Plan("fp8", {});
  kernels::KernelCounters counters;
  const kernels::Execution run{plan, counters, nullptr, DeviceUnderTest()->stream};
  const Ops ops(run);
  std::vector<DenoiseState> alone = Videos(ops), together = alone;
  Denoiser denoiser(*transformer_);
  for (DenoiseState& state : alone) denoiser.Step(ops, {&state});
  std::vector<DenoiseState*> states;
  for (DenoiseState& state : together) states.push_back(&state);
  denoiser.Step(ops, states);
  for (size_t i = 0; i < alone.size(); ++i) {
    // A sum in another order may fall on the other side between two codes.
    EXPECT_LT(
        Compare("packed in 8 bits " + std::to_string(i), together[i].tokens.x, alone[i].tokens.x)
            .relative,
        2e-3);
  }
}

TEST_F(PackedSteps, MakeOneProductOfEachLayer) {
  TestRun test(PlanSource::kKernels);
  const Ops ops(test.run);
  std::vector<DenoiseState> all = Videos(ops);
  Denoiser denoiser(*transformer_);
  const auto products = [&](const std::vector<DenoiseState*>& states) {
    for (DenoiseState* state : states) denoiser.Step(ops, {state});  // with its schedule's times
    test.counters = {};
    denoiser.Step(ops, states);
    int64_t calls = 0;
    for (const auto& use : test.counters.Uses()) calls += use.op == "linear" ? use.calls : 0;
    return calls;
  };
  const int64_t of_one = products({&all[3]});
  EXPECT_GT(of_one, 0);
  EXPECT_EQ(products({&all[3], &all[1]}), of_one);
}

TEST(StepGroups, AreOfOneSizeEachAndSmallOnesComeFirst) {
  std::vector<DenoiseState> states(4);
  const std::vector<LatentShape> shapes = {{2, 3, 5}, {1, 2, 2}, {2, 3, 5}, {1, 3, 3}};
  std::vector<const DenoiseState*> all;
  for (size_t i = 0; i < states.size(); ++i) {
    states[i].tokens.x = at::zeros({1, shapes[i].tokens(), 8});
    states[i].tokens.coordinates = PlainCoordinates(shapes[i], 25);
    states[i].text.mask.bias = at::zeros({1, 1, 1, 6});
    all.push_back(&states[i]);
  }
  const std::vector<std::vector<size_t>> expected = {{1}, {3}, {0, 2}};
  EXPECT_EQ(GroupsOf(all), expected);
  EXPECT_TRUE(CanPackStep(states[0], states[1]));
  states[1].guidance.points = {{3, 0, 1, {0}}};
  EXPECT_FALSE(CanPackStep(states[0], states[1]));
  EXPECT_FALSE(CanPackStep(states[1], states[0]));
}

}  // namespace
}  // namespace reel::model::ltx
