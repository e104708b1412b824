// SPDX-License-Identifier: Apache-2.0
// Transformers with adapters in their weights, against diffusers, which adds the products beside
// each layer.
#include <cstdlib>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/adapters/add_adapters.h"
#include "model/ltx/rope.h"
#include "model/ltx/transformer.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model::ltx {
namespace {

// Of the velocities' standard deviation. Processors without AVX2 sum in another order: 2.3e-6
// there, 1.4e-6 with it.
constexpr double kAdapterBound = 3e-6;

std::string AdapterFileOf(const std::string& name) {
  return std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/adapters/ltx/" + name +
         ".safetensors";
}

at::Tensor VelocityWith(const std::vector<FixedAdapter>& adapters) {
  const TinyFolder folder("0.9.0");
  const std::string part = folder.path() + "/transformer";
  WeightSet stored = *WeightSet::OpenFolder(part, "diffusion_pytorch_model");
  LoadOptions options;
  options.adapters = adapters;
  const AdaptedPart adapted = {&stored, ""};
  const auto added = AddAdapters(options, AdapterFamily::kLtxVideo, {&adapted, 1});
  EXPECT_TRUE(added.ok()) << added.status();
  const auto config = ReadTransformerConfig(*ReadJsonFile(part + "/config.json"), "config.json");
  const auto model = Transformer::Load(stored, *config, at::kFloat, at::kCPU);
  EXPECT_TRUE(model.ok()) << model.status();
  if (!model.ok()) return at::zeros({0});
  TestRun test;
  const Ops ops(test.run);
  const at::Tensor mask = at::tensor({1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0}).view({2, 6});
  return model->Velocity(ops, {.x = Draw(21, {2, 30, 8}),
                               .time = model->Times(ops, at::tensor({725.0f, 31.0f})),
                               .time_of = {},
                               .rope = MakeRopeTable(PlainCoordinates({2, 3, 5}, 25), 32),
                               .text = model->Prepare(ops, Draw(22, {2, 6, 32}), mask)});
}

TEST(AdaptersGolden, OneInTheWeightsGivesTheVelocitiesOfDiffusers) {
  const Golden golden = Golden::In("adapters/ltx");
  const at::Tensor velocity = VelocityWith({{"style", AdapterFileOf("style"), 0.7}});
  EXPECT_LT(Compare("style", velocity, golden["style"]).relative, kAdapterBound);
  EXPECT_GT(Compare("without", VelocityWith({}), golden["style"]).relative, 1e-2);
}

TEST(AdaptersGolden, TwoInTheWeightsGiveTheVelocitiesOfDiffusers) {
  const Golden golden = Golden::In("adapters/ltx");
  const at::Tensor velocity =
      VelocityWith({{"style", AdapterFileOf("style"), 0.7}, {"turn", AdapterFileOf("turn"), -1.5}});
  EXPECT_LT(Compare("both", velocity, golden["both"]).relative, kAdapterBound);
  EXPECT_GT(Compare("style alone", golden["style"], golden["both"]).relative, 1e-2);
}

}  // namespace
}  // namespace reel::model::ltx
