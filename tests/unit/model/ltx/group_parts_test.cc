// SPDX-License-Identifier: Apache-2.0
// What a group is made of: rows of pictures with the neighbour's beside them, weights that are read
// once, and guidance of every form against one device.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/bridge/torch_guard.h"
#include "model/ltx/denoiser.h"
#include "model/ltx/row_part.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/ltx/test_run.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model::ltx {
namespace {

// Each rank's rows, with the neighbour's beside them, are those of the whole picture with zeros
// around it; in either memory, and where pixels are of 16 bytes or not.
TEST(GroupRows, HaveTheNeighboursRowBesideThem) {
  const c10::InferenceMode no_gradients;
  RankCrew crew({at::kCPU, at::kCPU});
  for (const auto memory : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast3d}) {
    for (const int64_t channels : {3, 8}) {
      for (const int64_t scale : {1, 2}) {
        const int64_t rows = 5 * scale;
        const at::Tensor whole = Draw(7, {1, channels, 3, rows, 4}).contiguous(memory);
        const at::Tensor edge = at::zeros({1, channels, 3, 1, 4});
        const at::Tensor padded = at::cat({edge, whole, edge}, 3);
        std::vector<at::Tensor> made(2);
        crew.Run([&](int rank) {
          const RowPart part = RowPart::Of(crew, rank, 5);
          made[static_cast<size_t>(rank)] =
              part.WithEdges(part.Own(whole, scale).contiguous(memory));
        });
        EXPECT_TRUE(made[0].equal(padded.slice(3, 0, 3 * scale + 2)));
        EXPECT_TRUE(made[1].equal(padded.slice(3, 3 * scale)));
        EXPECT_TRUE(made[1].is_contiguous(memory));
      }
    }
  }
}

TEST(GroupWeights, AreReadByTheFirstRankAndCopiedByTheOthers) {
  const TinyFolder folder("0.9.5");
  const auto stored =
      WeightSet::OpenFolder(folder.path() + "/transformer", "diffusion_pytorch_model");
  ASSERT_TRUE(stored.ok()) << stored.status();
  TensorsByName shared;
  Weights first(*stored, at::kFloat, at::kCPU, &shared);
  const std::string name = "proj_out.bias";
  const at::Tensor read = first.Take(name, {8});
  ASSERT_TRUE(read.defined());
  ASSERT_EQ(shared.size(), 1u);
  EXPECT_TRUE(shared.at(name).is_same(read));
  shared.at(name) = read + 1;  // which no file has
  Weights second(*stored, at::kFloat, at::kCPU, &shared);
  EXPECT_TRUE(second.Take(name, {8}).equal(read + 1));
  EXPECT_EQ(second.parameters(), first.parameters());
  EXPECT_FALSE(second.Take(name, {9}).defined());
  EXPECT_FALSE(second.Finish().ok());
}

// Guidance of every form, as a two-pass preset has it: one row, three, two of which one is
// perturbed, and from the first block on.
class GroupGuidance : public ::testing::TestWithParam<bool> {
 protected:
  static absl::StatusOr<Transformer> LoadTransformer(const TinyFolder& folder) {
    const auto stored =
        WeightSet::OpenFolder(folder.path() + "/transformer", "diffusion_pytorch_model");
    const auto config = ReadJsonFile(folder.path() + "/transformer/config.json");
    return Transformer::Load(*stored, *ReadTransformerConfig(*config, ""), at::kFloat, at::kCPU);
  }

  static DenoiseState State(const Ops& ops, const Transformer& transformer, uint64_t seed,
                            const std::vector<GuidancePoint>& points) {
    DenoiseState state;
    state.shape = {2, 3, 5};
    state.tokens.x = Draw(seed, {1, 30, 8});
    state.tokens.coordinates = PlainCoordinates(state.shape, 25);
    state.rope = MakeRopeTable(state.tokens.coordinates, 32);
    state.schedule = *SpacedSchedule({}, 6, 30);
    state.guidance.points = points;
    const std::vector<float> sigmas(state.schedule.sigmas.begin(), state.schedule.sigmas.end());
    for (size_t i = 0; points.size() > 1 && i < points.size(); ++i) {
      state.guidance.from.push_back(sigmas[i]);
    }
    state.guidance.star = GetParam();
    const int64_t rows =
        (state.guidance.uses_negative() ? 1 : 0) + 1 + (state.guidance.uses_perturbed() ? 1 : 0);
    state.text_has_negative = state.guidance.uses_negative();
    at::Tensor text = Draw(seed + 1, {rows, 6, 32});
    if (state.guidance.uses_perturbed()) text[rows - 1].copy_(text[rows - 2]);
    state.text = transformer.Prepare(ops, text, at::ones({rows, 6}));
    return state;
  }

  const c10::InferenceMode no_gradients_;
};

TEST_P(GroupGuidance, OfEveryFormIsTheSame) {
  const TinyFolder folder("0.9.5");
  const auto transformer = LoadTransformer(folder);
  ASSERT_TRUE(transformer.ok()) << transformer.status();
  const TestRun test;
  const Ops ops(test.run);
  RankCrew crew({at::kCPU, at::kCPU});
  Denoiser one(*transformer), group(*transformer, nullptr, crew, {&*transformer});
  DenoiseState expected = State(ops, *transformer, 3,
                                {{1, 0, 0, {}},
                                 {3, 0.7, 1.5, {1}},
                                 {1, 0, 1, {0, 1}},
                                 {4, 0, 0, {}},
                                 {2, 0.3, 0.5, {0}},
                                 {1, 0.7, 2, {1}}});
  DenoiseState made = expected;
  for (int i = 0; i < 6; ++i) {
    one.Step(ops, {&expected});
    group.Step(ops, {&made});
    EXPECT_TRUE(made.tokens.x.equal(expected.tokens.x)) << "step " << i + 1;
    Compare("step " + std::to_string(i + 1), made.tokens.x, expected.tokens.x);
  }
}

TEST_P(GroupGuidance, InCompanyIsNearEachOnesOwn) {
  const TinyFolder folder("0.9.5");
  const auto transformer = LoadTransformer(folder);
  ASSERT_TRUE(transformer.ok()) << transformer.status();
  const TestRun test;
  const Ops ops(test.run);
  RankCrew crew({at::kCPU, at::kCPU});
  Denoiser one(*transformer), group(*transformer, nullptr, crew, {&*transformer});
  std::vector<DenoiseState> alone = {State(ops, *transformer, 1, {{3, 0.7, 0, {}}}),
                                     State(ops, *transformer, 5, {{1, 0, 0, {}}}),
                                     State(ops, *transformer, 9, {{6, 0, 0, {}}})};
  std::vector<DenoiseState> together = alone;
  for (DenoiseState& state : alone) {
    for (int i = 0; i < 3; ++i) one.Step(ops, {&state});
  }
  const std::vector<std::vector<size_t>> batches = {{0, 1, 2}, {1, 2, 0}, {2, 0}, {1}};
  for (const std::vector<size_t>& batch : batches) {
    std::vector<DenoiseState*> states;
    for (const size_t i : batch) states.push_back(&together[i]);
    group.Step(ops, states);
  }
  for (size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(together[i].step, 3);
    EXPECT_LT(Compare("company of " + std::to_string(i), together[i].tokens.x, alone[i].tokens.x)
                  .relative,
              1e-5);
  }
}

// What a rank cannot do is the step's error, and has changed nothing.
TEST_P(GroupGuidance, AFailedRankFailsTheStepAndTheNextOneIsWhole) {
  const TinyFolder folder("0.9.5");
  auto first = LoadTransformer(folder), peer = LoadTransformer(folder);
  ASSERT_TRUE(first.ok() && peer.ok());
  const TestRun test;
  const auto plan = DeviceUnderTest()->catalog.Plan("fp8", {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  kernels::KernelCounters counters;
  const kernels::Execution run{*plan, counters, nullptr, {}};
  RankCrew crew({at::kCPU, at::kCPU});
  Denoiser group(*first, nullptr, crew, {&*peer});
  DenoiseState state = State(Ops(test.run), *first, 3, {{3, 0.7, 0, {}}});
  const at::Tensor before = state.tokens.x;
  Transformer* const ranks[] = {&*first, &*peer};
  // Neither rank has layers in 8 bits, then one of them, then both.
  for (const bool star : {GetParam(), !GetParam()}) {
    const absl::Status failed = TorchGuard([&] {
      group.Step(Ops(run), {&state});
      return absl::OkStatus();
    });
    EXPECT_EQ(failed.code(), absl::StatusCode::kFailedPrecondition) << failed;
    EXPECT_TRUE(state.tokens.x.is_same(before));
    EXPECT_EQ(state.step, 0);
    ASSERT_TRUE(ranks[star ? 1 : 0]->MakeE4m3().ok());
  }
  DenoiseState expected = state;
  Denoiser(*first).Step(Ops(run), {&expected});
  group.Step(Ops(run), {&state});
  EXPECT_TRUE(state.tokens.x.equal(expected.tokens.x));
}

INSTANTIATE_TEST_SUITE_P(Stars, GroupGuidance, ::testing::Bool());

}  // namespace
}  // namespace reel::model::ltx
