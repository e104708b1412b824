// SPDX-License-Identifier: Apache-2.0
// Transformers with adapters in their weights, against diffusers, which adds the products beside
// each layer.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/adapters/add_adapters.h"
#include "model/adapting/adapter_shelf.h"
#include "model/ltx/rope.h"
#include "model/ltx/transformer.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model::ltx {
namespace {

// Of the velocities' standard deviation, as the transformer's own goldens have it. Processors sum
// in other orders: 1.4e-6 to 2.6e-6 with AVX-512 and without AVX2, up to 7.7e-6 with AVX2 on one
// Xeon.
constexpr double kAdapterBound = 1e-5;

std::string AdapterFileOf(const std::string& name) {
  return std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/adapters/ltx/" + name +
         ".safetensors";
}

at::Tensor VelocityWith(const std::vector<FixedAdapter>& adapters,
                        at::ScalarType dtype = at::kFloat) {
  const TinyFolder folder("0.9.0");
  const std::string part = folder.path() + "/transformer";
  WeightSet stored = *WeightSet::OpenFolder(part, "diffusion_pytorch_model");
  LoadOptions options;
  options.adapters = adapters;
  const AdaptedPart adapted = {&stored, ""};
  const auto added = AddAdapters(options, AdapterFamily::kLtxVideo, {&adapted, 1});
  EXPECT_TRUE(added.ok()) << added.status();
  const auto config = ReadTransformerConfig(*ReadJsonFile(part + "/config.json"), "config.json");
  const auto model = Transformer::Load(stored, *config, dtype, at::kCPU);
  EXPECT_TRUE(model.ok()) << model.status();
  if (!model.ok()) return at::zeros({0});
  TestRun test;
  const Ops ops(test.run);
  const at::Tensor mask = at::tensor({1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0}).view({2, 6});
  return model->Velocity(ops, {.x = Draw(21, {2, 30, 8}).to(dtype),
                               .time = model->Times(ops, at::tensor({725.0f, 31.0f})),
                               .time_of = {},
                               .rope = MakeRopeTable(PlainCoordinates({2, 3, 5}, 25), 32),
                               .text = model->Prepare(ops, Draw(22, {2, 6, 32}), mask)});
}

// Beside the weights, as a request has them.
at::Tensor VelocityBeside(const std::vector<RequestAdapter>& adapters, at::ScalarType dtype) {
  const c10::InferenceMode no_gradients;
  const TinyFolder folder("0.9.0");
  const std::string part = folder.path() + "/transformer";
  const auto config = ReadTransformerConfig(*ReadJsonFile(part + "/config.json"), "config.json");
  AdapterRoom room(kAdapterSlot * 2);
  const auto model = Transformer::Load(*WeightSet::OpenFolder(part, "diffusion_pytorch_model"),
                                       *config, dtype, at::kCPU, {.room = &room});
  EXPECT_TRUE(model.ok()) << model.status();
  const auto shelf =
      *AdapterShelf::Of(std::make_unique<AdapterRoom>(room), AdapterFamily::kLtxVideo);
  const auto taken = shelf->Take(adapters);
  EXPECT_TRUE(taken.ok()) << taken.status();
  if (!model.ok() || !taken.ok()) return at::zeros({0});
  const AppliedAdapters* const job = &*taken;
  const at::Tensor scales = shelf->columns().Place({&job, 1});
  TestRun test;
  const Ops plain(test.run), ops = plain.WithAdapters(scales);
  const at::Tensor mask = at::tensor({1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0}).view({2, 6});
  const at::Tensor times = at::tensor({725.0f, 31.0f});
  return model->Velocity(plain, {.x = Draw(21, {2, 30, 8}).to(dtype),
                                 .time = model->Times(plain.WithAdapters(scales.squeeze(1)), times),
                                 .time_of = {},
                                 .rope = MakeRopeTable(PlainCoordinates({2, 3, 5}, 25), 32),
                                 .text = model->Prepare(ops, Draw(22, {2, 6, 32}), mask),
                                 .adapters = scales.expand({2, -1, -1})});
}

TEST(AdaptersGolden, BesideTheWeightsGiveTheVelocitiesOfDiffusers) {
  const Golden golden = Golden::In("adapters/ltx");
  const std::vector<RequestAdapter> style = {{"style", 0.7, "", AdapterFileOf("style")}};
  std::vector<RequestAdapter> both = style;
  both.push_back({"turn", -1.5, "", AdapterFileOf("turn")});
  EXPECT_LT(Compare("style", VelocityBeside(style, at::kFloat), golden["style"]).relative,
            kAdapterBound);
  EXPECT_LT(Compare("both", VelocityBeside(both, at::kFloat), golden["both"]).relative,
            kAdapterBound);
  const auto error = [&](const at::Tensor& velocity) {
    return (velocity.to(at::kFloat) - golden["both"]).pow(2).mean().sqrt().item<double>();
  };
  const double own = error(VelocityBeside(both, at::kBFloat16));
  const double reference = error(golden["both.bf16"]);
  std::printf("both beside the weights in bf16: %.2f of diffusers' error\n", own / reference);
  EXPECT_LT(own, 1.5 * reference);
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

// By the root of the mean square, from diffusers in fp32.
TEST(AdaptersGolden, InBf16TheyAreAsNearAsDiffusersIs) {
  constexpr double kMostWorse = 1.5;  // of models as tiny, which err by a few roundings
  const Golden golden = Golden::In("adapters/ltx");
  const std::vector<FixedAdapter> style = {{"style", AdapterFileOf("style"), 0.7}};
  std::vector<FixedAdapter> both = style;
  both.push_back({"turn", AdapterFileOf("turn"), -1.5});
  for (const auto& [name, adapters] :
       {std::pair<std::string, std::vector<FixedAdapter>>{"style", style}, {"both", both}}) {
    const at::Tensor exact = golden[name];
    const auto error = [&exact](const at::Tensor& velocity) {
      return (velocity.to(at::kFloat) - exact).pow(2).mean().sqrt().item<double>();
    };
    const double own = error(VelocityWith(adapters, at::kBFloat16));
    const double reference = error(golden[name + ".bf16"]);
    std::printf("%s in bf16: %.2f of diffusers' error\n", name.c_str(), own / reference);
    EXPECT_LT(own, kMostWorse * reference) << name;
  }
}

}  // namespace
}  // namespace reel::model::ltx
