// SPDX-License-Identifier: Apache-2.0
// Compares the lossy profiles with layers in 8 bits, fp8 and int8, with the reference on the same
// latents. They stay within their gates, also if a few channels are far larger than the others, and
// run only on request.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "model/bridge/row_ops.h"
#include "model/bridge/torch_device.h"
#include "model/bridge/torch_guard.h"
#include "model/ltx/rope.h"
#include "model/ltx/transformer.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/ltx/pipeline_run.h"

namespace reel::model::ltx {
namespace {

// The gates: of the velocity, and the cosine between both.
constexpr double kMostError = 0.03, kLeastCosine = 0.999;
constexpr LatentShape kShape = {2, 3, 5};

struct Profile {
  const char* name;
  RowForm form;
  const char* variant;  // of linear, on a CPU and on a GPU
  const char* on_gpu;
  int calls;        // of two blocks
  double of_layer;  // the error of one beside outliers
};
constexpr Profile kProfiles[] = {
    // The feed-forward's first layer goes from codes to codes.
    {"fp8", RowForm::kE4m3, "linear=e4m3_rows", "linear=e4m3_rows", 2 * 5, 0.04},
    {"int8", RowForm::kInt8, "linear=int8_rows", "linear=sm90_int8", 2 * 6, 0.012},
};

class LayersIn8Bits : public LtxPipeline, public ::testing::WithParamInterface<Profile> {
 protected:
  void SetUp() override {
    LtxPipeline::SetUp();
    if (IsSkipped()) return;
    device_ = *TorchDeviceOf(DeviceUnderTest()->stream);
    const auto plan = DeviceUnderTest()->catalog.Plan(GetParam().name, {});
    if (!plan.ok()) GTEST_SKIP() << "SKIPPED: " << plan.status();
    lossy_ = *plan;
  }
  int64_t CallsIn8Bits() const {
    return Calls()[device_.is_cpu() ? GetParam().variant : GetParam().on_gpu];
  }

  // Counted apart from `counters_`.
  kernels::Execution Run(const kernels::KernelPlan& plan) {
    counters_ = {};
    return {plan, counters_, nullptr, DeviceUnderTest()->stream};
  }

  absl::StatusOr<Transformer> LoadTransformer() const {
    const auto stored =
        WeightSet::OpenFolder(folder_.path() + "/transformer", "diffusion_pytorch_model");
    const auto config = ReadJsonFile(folder_.path() + "/transformer/config.json");
    return Transformer::Load(*stored, *ReadTransformerConfig(*config, ""), at::kFloat, device_);
  }

  at::Tensor Velocity(const Transformer& model, const kernels::KernelPlan& plan) {
    const kernels::Execution run = Run(plan);
    const at::Tensor mask = at::ones({2, 6}).to(device_);
    const Ops ops(run);
    return model.Velocity(ops,
                          {.x = Draw(21, {2, kShape.tokens(), 8}).to(device_),
                           .time = model.Times(ops, at::tensor({725.0f, 31.0f}).to(device_)),
                           .rope = MakeRopeTable(PlainCoordinates(kShape, 25), 32).To(device_),
                           .text = model.Prepare(ops, Draw(22, {2, 6, 32}).to(device_), mask)});
  }

  static GenerationSpec Spec(int steps) {
    GenerationSpec spec = TinySpec("text");
    spec.num_inference_steps = steps;
    return spec;
  }

  std::map<std::string, int64_t> Calls() const {
    std::map<std::string, int64_t> calls;
    for (const auto& use : counters_.Uses()) calls[use.op + "=" + use.variant] += use.calls;
    return calls;
  }

  const c10::InferenceMode no_gradients_;
  const TinyFolder folder_{"0.9.0"};
  at::Device device_ = at::kCPU;
  const kernels::KernelPlan auto_ =
      DeviceUnderTest().ok() ? *DeviceUnderTest()->catalog.Plan("auto", {}) : kernels::KernelPlan();
  kernels::KernelPlan lossy_;
  kernels::KernelCounters counters_;
};

INSTANTIATE_TEST_SUITE_P(Profiles, LayersIn8Bits, ::testing::ValuesIn(kProfiles),
                         [](const auto& profile) { return profile.param.name; });

// What e4m3 alone has.
class Fp8Profile : public LayersIn8Bits {};
INSTANTIATE_TEST_SUITE_P(Profiles, Fp8Profile, ::testing::Values(kProfiles[0]),
                         [](const auto& profile) { return profile.param.name; });

// What int8 alone has.
class Int8Profile : public LayersIn8Bits {};
INSTANTIATE_TEST_SUITE_P(Profiles, Int8Profile, ::testing::Values(kProfiles[1]),
                         [](const auto& profile) { return profile.param.name; });

void ExpectWithinTheGates(const at::Tensor& actual, const at::Tensor& expected) {
  const at::Tensor a = actual.to(at::kDouble).flatten(), e = expected.to(at::kDouble).flatten();
  const double error = ((a - e).norm() / e.norm()).item<double>();
  const double cosine = (a.dot(e) / (a.norm() * e.norm())).item<double>();
  std::printf("relative error %.4f, cosine %.6f\n", error, cosine);
  EXPECT_LE(error, kMostError);
  EXPECT_GE(cosine, kLeastCosine);
  EXPECT_GT(error, 0) << "nothing was rounded to 8 bits";
}

TEST_P(LayersIn8Bits, KeepTheVelocityWithinTheGates) {
  auto model = LoadTransformer();
  ASSERT_TRUE(model.ok()) << model.status();
  const at::Tensor expected = Velocity(*model, auto_);
  ASSERT_TRUE(model->MakeLayersIn(GetParam().form).ok());
  ExpectWithinTheGates(Velocity(*model, lossy_), expected);
  // The first and the last layers, and what is made once for a request, are as they were.
  EXPECT_EQ(CallsIn8Bits(), GetParam().calls);
  const bool is_fp8 = GetParam().form == RowForm::kE4m3;
  EXPECT_EQ(Calls()["linear_gelu=aten"] + Calls()["linear_gelu=e4m3"], is_fp8 ? 2 : 0);
  // What 8-bit layers there are changes nothing for the others.
  EXPECT_TRUE(Velocity(*model, auto_).equal(expected));
  EXPECT_EQ(CallsIn8Bits(), 0);
}

TEST_P(LayersIn8Bits, AreRefusedBeforeTheyAreMade) {
  const auto model = LoadTransformer();
  ASSERT_TRUE(model.ok()) << model.status();
  const absl::Status status = TorchGuard([&] {
    Velocity(*model, lossy_);
    return absl::OkStatus();
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
}

// A few channels a hundred times as large as the others, as trained models have them.
TEST_P(LayersIn8Bits, KeepTheirResultBesideOutlierChannels) {
  const kernels::Execution run = Run(lossy_);
  const Ops ops(run);
  const int64_t width = 256;
  at::Tensor x = Draw(1, {64, width});
  for (const int64_t channel : {3, 77, 200}) x.select(1, channel).mul_(100);
  x = x.to(device_, at::kBFloat16);
  Linear layer{.weight = (Draw(2, {128, width}) / 16).to(device_, at::kBFloat16),
               .bias = Draw(3, {128}).to(device_, at::kBFloat16)};
  GetParam().form == RowForm::kInt8 ? layer.MakeInt8() : layer.MakeE4m3();
  const at::Tensor expected =
      at::linear(x.to(at::kDouble), layer.weight.to(at::kDouble), layer.bias.to(at::kDouble));
  const at::Tensor actual = layer(ops, InForm(ops, x, GetParam().form)).to(at::kDouble);
  const double error = ((actual - expected).norm() / expected.norm()).item<double>();
  std::printf("one layer beside outliers: relative error %.4f\n", error);
  EXPECT_LT(error, GetParam().of_layer);
}

// From codes to codes, however far a row goes in one direction: nothing is cut off, and what is
// small beside it is still there.
TEST_P(Fp8Profile, ALayerWithAGeluReachesAllThatANormCanSay) {
  const kernels::Execution run = Run(lossy_);
  const Ops ops(run);
  const int64_t width = 256, outputs = 128;
  Linear layer{.weight = (Draw(2, {outputs, width}) / 16).to(device_, at::kBFloat16),
               .bias = Draw(3, {outputs}).to(device_, at::kBFloat16)};
  layer.MakeE4m3Gelu();
  at::Tensor x = Draw(1, {64, width});
  for (const int64_t channel : {3, 77, 200}) x.select(1, channel).mul_(100);
  x = x.to(device_);
  // The first rows look along weights, which is as far as an output can get.
  x.slice(0, 0, 8).copy_(layer.weight.slice(0, 0, 8));
  x = x / (x * x).mean(-1, true).sqrt() * 4.0;  // a norm, and a modulation
  const at::Tensor codes = (x / kE4m3GeluXScale).to(at::kFloat8_e4m3fn);
  const at::Tensor out = LinearGelu(ops, codes, layer.gelu, layer.bias).values;
  ASSERT_EQ(out.scalar_type(), at::kFloat8_e4m3fn);
  const at::Tensor actual = out.to(at::kDouble) * layer.gelu.out_scale;
  const at::Tensor expected = at::gelu(
      at::linear(x.to(at::kDouble), layer.weight.to(at::kDouble), layer.bias.to(at::kDouble)),
      "tanh");
  EXPECT_LT(out.to(at::kFloat).abs().max().item<float>(), 448);
  for (const auto& [first, end] : {std::pair(0, 8), std::pair(8, 64)}) {
    const at::Tensor a = actual.slice(0, first, end), e = expected.slice(0, first, end);
    const double error = ((a - e).norm() / e.norm()).item<double>();
    std::printf("a layer with a GELU: relative error %.4f\n", error);
    EXPECT_LT(error, 0.05);
  }
}

TEST_P(Fp8Profile, WeightsThatACheckpointHasInE4m3KeepTheirValues) {
  const at::Tensor stored = (Draw(4, {32, 64}) * at::pow(2.0, Draw(5, {32, 1}) * 4))
                                .clamp(-448, 448)
                                .to(at::kFloat8_e4m3fn);
  Linear layer{.weight = stored.to(at::kBFloat16).to(device_), .bias = {}};
  layer.MakeE4m3();
  const at::Tensor values = layer.e4m3.codes.to(at::kFloat) * layer.e4m3.scale.unsqueeze(1);
  EXPECT_TRUE(values.to(at::kBFloat16).equal(layer.weight));
}

TEST_P(LayersIn8Bits, AreWhatARequestOfThePipelineRuns) {
  const auto pipeline = Load(folder_, "fp32");
  ASSERT_NE(pipeline, nullptr);
  // Attention in 8 bits is for heads of 64.
  EXPECT_THAT(pipeline->card().lossy_profiles, ::testing::ElementsAre("int8", "fp8", "cache"));
  const auto latents = [&](const kernels::KernelPlan& plan) {
    const kernels::Execution run = Run(plan);
    const auto generation = Begin(*pipeline, Spec(2), run);
    for (int i = 0; i < 2; ++i) StepAll(*pipeline, {generation.get()}, run);
    return LatentsOf(*pipeline, *generation);
  };
  const at::Tensor expected = latents(auto_);
  const at::Tensor actual = latents(lossy_);
  EXPECT_GT(CallsIn8Bits(), 0);
  EXPECT_FALSE(actual.equal(expected));
  EXPECT_TRUE(latents(lossy_).equal(actual));
  EXPECT_TRUE(latents(auto_).equal(expected));
}

// Weights are made by libtorch, rows by int8_rows: both must be turned alike.
TEST_P(Int8Profile, HasItsWeightsAsRowsAreMade) {
  const kernels::Execution run = Run(lossy_);
  Linear layer{.weight = Draw(2, {48, 256}).to(device_), .bias = {}};
  layer.MakeInt8();
  const Rows rows = InForm(Ops(run), layer.weight, RowForm::kInt8);
  EXPECT_TRUE(layer.int8.scale.allclose(rows.scale, 1e-6, 0));
  const at::Tensor apart = (layer.int8.codes.to(at::kFloat) - rows.values.to(at::kFloat)).abs();
  EXPECT_LE(apart.max().item<float>(), 1);
  EXPECT_LT(apart.mean().item<float>(), 1e-3);
}

// What a video becomes is decided in its first steps.
TEST_P(LayersIn8Bits, OfInt8RunFromTheSecondTenthOfTheStepsOn) {
  const auto pipeline = Load(folder_, "fp32");
  ASSERT_NE(pipeline, nullptr);
  kernels::KernelCounters others;
  const kernels::Execution plain{auto_, others, nullptr, DeviceUnderTest()->stream};
  const kernels::Execution lossy = Run(lossy_);
  const auto expected = Begin(*pipeline, Spec(10), plain);
  const auto whole = Begin(*pipeline, Spec(10), lossy), pieces = Begin(*pipeline, Spec(10), lossy);
  ASSERT_TRUE(expected != nullptr && whole != nullptr && pieces != nullptr);
  const bool is_near = GetParam().form == RowForm::kInt8;
  for (int step = 0; step < 2; ++step) {
    StepAll(*pipeline, {expected.get()}, plain);
    StepAll(*pipeline, {whole.get()}, lossy);
    EXPECT_EQ(CallsIn8Bits() == 0, is_near && step == 0) << step;
    const at::Tensor latents = LatentsOf(*pipeline, *whole);
    EXPECT_EQ(latents.equal(LatentsOf(*pipeline, *expected)), is_near && step == 0) << step;
    const auto stopping = pipeline->BeginStep(std::vector<Generation*>{pieces.get()}, 2, lossy);
    ASSERT_NE(stopping, nullptr);
    std::optional<std::vector<absl::Status>> made;
    while (!(made = stopping->Next(lossy)).has_value()) {
    }
    EXPECT_TRUE(made->at(0).ok()) << made->at(0);
    EXPECT_TRUE(latents.equal(LatentsOf(*pipeline, *pieces))) << step;
  }
}

}  // namespace
}  // namespace reel::model::ltx
