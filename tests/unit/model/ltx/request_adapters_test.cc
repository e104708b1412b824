// SPDX-License-Identifier: Apache-2.0
// Videos with adapters of their own, beside others and alone.
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/dispatch/kernel_profiles.h"
#include "model/adapting/adapter_shelf.h"
#include "model/ltx/encode_stage.h"
#include "model/ltx/ltx_pipeline.h"
#include "model/ltx/rope.h"
#include "model/ltx/velocity_graphs.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/graphs/rerun_recorder.h"
#include "tests/unit/model/ltx/pipeline_run.h"

namespace reel::model::ltx {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kRanks = 64;

// `style` is for every layer, `turn` for the self attentions.
RequestAdapter Named(const std::string& name, double scale = 1) {
  return {name, scale, "",
          std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/adapters/ltx/" + name +
              ".safetensors"};
}

GenerationSpec With(GenerationSpec spec, std::vector<RequestAdapter> adapters) {
  spec.adapters = std::move(adapters);
  return spec;
}

class RequestAdapters : public LtxPipeline {
 protected:
  LoadOptions Options(int ranks = kRanks) const {
    LoadOptions options;
    options.name = "tiny";
    options.path = folder_.path();
    options.dtype = "fp32";
    options.adapter_ranks = ranks;
    return options;
  }
  std::unique_ptr<Pipeline> Loaded(const LoadOptions& options) const {
    auto pipeline = LoadLtxPipeline(options, DeviceUnderTest()->stream);
    EXPECT_TRUE(pipeline.ok()) << pipeline.status();
    return pipeline.ok() ? *std::move(pipeline) : nullptr;
  }
  at::Tensor Finished(Pipeline& pipeline, Generation& generation) const {
    while (generation.step() < generation.num_steps()) {
      StepAll(pipeline, {&generation}, test_.run);
      if (HasFatalFailure()) return {};
    }
    return LatentsOf(pipeline, generation);
  }
  at::Tensor Made(Pipeline& pipeline, const GenerationSpec& spec) const {
    const auto generation = Begin(pipeline, spec, test_.run);
    return generation == nullptr ? at::Tensor() : Finished(pipeline, *generation);
  }
  static bool IsGpu() { return DeviceUnderTest()->stream.device >= 0; }
  // A GPU adds in another order beside others.
  static void ExpectSame(const at::Tensor& made, const at::Tensor& alone) {
    EXPECT_TRUE(IsGpu() ? made.allclose(alone, 1e-3, 1e-4) : made.equal(alone));
  }

  const TinyFolder folder_{"0.9.5"};
  const TestRun test_;
};

TEST_F(RequestAdapters, MakeTheVideoOfAModelThatWasLoadedWithThem) {
  const auto pipeline = Loaded(Options());
  const at::Tensor plain = Made(*pipeline, TinySpec("text"));
  for (const auto& adapters :
       {std::vector{Named("style", 0.7)}, {Named("turn", -1.5), Named("style", 0.7)}}) {
    LoadOptions merged = Options(0);
    for (const RequestAdapter& adapter : adapters) {
      merged.adapters.push_back({adapter.name, adapter.path, *adapter.scale});
    }
    const at::Tensor expected = Made(*Loaded(merged), TinySpec("text"));
    const at::Tensor made = Made(*pipeline, With(TinySpec("text"), adapters));
    EXPECT_LT(Compare("beside the weights", made, expected).relative, 1e-4);
    EXPECT_GT(Compare("without", plain, expected).relative, 1e-2);
  }
}

TEST_F(RequestAdapters, LeaveVideosWithoutThemAsTheyAre) {
  const at::Tensor without_room = Made(*Loaded(Options(0)), TinySpec("text"));
  const auto pipeline = Loaded(Options());
  Made(*pipeline, With(TinySpec("text"), {Named("style")}));
  EXPECT_TRUE(Made(*pipeline, TinySpec("text")).equal(without_room));
  EXPECT_TRUE(Made(*pipeline, With(TinySpec("text"), {Named("style", 0)})).equal(without_room));
}

TEST_F(RequestAdapters, MakeTheSameVideoAloneAndBesideOthers) {
  for (const char* kind : {"text", "image", "condition"}) {
    const std::vector<GenerationSpec> specs = {
        With(TinySpec(kind), {Named("style", 0.5)}), TinySpec(kind),
        With(TinySpec(kind), {Named("turn"), Named("style", -0.25)}),
        With(TinySpec(kind), {Named("style", 0.25)})};
    const auto pipeline = Loaded(Options());
    std::vector<std::unique_ptr<Generation>> together;
    for (const GenerationSpec& spec : specs) {
      together.push_back(Begin(*pipeline, spec, test_.run));
      ASSERT_NE(together.back(), nullptr);
    }
    std::vector<Generation*> all;
    for (const auto& generation : together) all.push_back(generation.get());
    while (all[0]->step() < all[0]->num_steps()) StepAll(*pipeline, all, test_.run);
    std::vector<at::Tensor> alone;
    for (size_t i = 0; i < specs.size(); ++i) {
      alone.push_back(Made(*Loaded(Options()), specs[i]));
      ExpectSame(LatentsOf(*pipeline, *all[i]), alone[i]);
      EXPECT_TRUE(i == 0 || !alone[i].allclose(alone[0], 1e-3, 1e-3)) << kind;
    }
  }
}

TEST_F(RequestAdapters, StandInTheirColumnsAgainAfterOthersHadThem) {
  const auto pipeline = Loaded(Options());
  const GenerationSpec style = With(TinySpec("text"), {Named("style")});
  const auto divided = Begin(*pipeline, style, test_.run);
  const auto other = Begin(*pipeline, With(TinySpec("text"), {Named("turn")}), test_.run);
  while (divided->step() < divided->num_steps()) {
    const auto step = pipeline->BeginStep({{divided.get()}}, 28, test_.run);
    ASSERT_NE(step, nullptr);
    while (!step->Next(test_.run).has_value()) {
      if (other->step() < other->num_steps()) StepAll(*pipeline, {other.get()}, test_.run);
      pipeline->ForgetKept();
    }
  }
  ExpectSame(LatentsOf(*pipeline, *divided), Made(*Loaded(Options()), style));
}

TEST_F(RequestAdapters, AreRefusedByNameWhereTheyCannotBeUsed) {
  const auto refusal = [&](Pipeline& pipeline, const RequestAdapter& adapter) {
    const auto generation = pipeline.Create(With(TinySpec("text"), {adapter}), test_.run);
    EXPECT_TRUE(generation.ok()) << generation.status();
    return std::string(pipeline.BeginNext(**generation, test_.run).status().message());
  };
  EXPECT_THAT(refusal(*Loaded(Options(0)), Named("style")),
              AllOf(HasSubstr("'style'"), HasSubstr("adapter_ranks")));
  const auto pipeline = Loaded(Options());
  RequestAdapter wrong = Named("style");
  wrong.sha256 = std::string(64, 'a');
  EXPECT_THAT(refusal(*pipeline, wrong), AllOf(HasSubstr("'style'"), HasSubstr("SHA-256")));
  LoadOptions odd = Options(33);
  EXPECT_THAT(std::string(LoadLtxPipeline(odd, DeviceUnderTest()->stream).status().message()),
              HasSubstr("adapter_ranks"));
}

TEST_F(RequestAdapters, CostNothingWhereTheModelHasNoRoomForThem) {
  const ModelCard with = Loaded(Options())->card(), without = Loaded(Options(0))->card();
  EXPECT_EQ(without.adapter_ranks, 0);
  EXPECT_EQ(without.weight_bytes, without.parameters * 4);
  EXPECT_EQ(with.adapter_ranks, kRanks);
  EXPECT_GT(with.weight_bytes, without.weight_bytes);
  const auto checked = CheckLtxModel(Options(), DeviceUnderTest()->stream);
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_EQ(checked->weight_bytes, with.weight_bytes);
}

// What a GPU does with several videos, here on the CPU too.
class PackedAdapters : public RequestAdapters {
 protected:
  void SetUp() override {
    RequestAdapters::SetUp();
    if (IsSkipped()) return;
    auto loaded = LoadLtxModel(Options(), *TorchDeviceOf(DeviceUnderTest()->stream));
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    model_ = *std::move(loaded);
  }
  DenoiseState StateOf(const GenerationSpec& spec, const Ops& ops) {
    ModelCard card;
    card.limits.max_latent_tokens = 10'000;
    const EncodeStage stage(*model_, card);
    auto planned = stage.Plan(spec);
    EXPECT_TRUE(planned.ok()) << planned.status();
    auto& mine = static_cast<LtxGeneration&>(**planned);
    while (!mine.ready) {
      const absl::Status status = stage.Next(mine, ops);
      EXPECT_TRUE(status.ok()) << status;
      if (!status.ok()) break;
    }
    return mine.state;
  }
  // Two sizes, with and without guidance.
  static std::vector<GenerationSpec> Specs() {
    GenerationSpec small = TinySpec("text"), unguided = TinySpec("text");
    small.width = 64;
    unguided.guidance_scale = 1;
    return {With(TinySpec("text"), {Named("style", 0.5)}), With(small, {Named("turn")}),
            With(unguided, {Named("turn", 2), Named("style", -1)}), With(small, {Named("style")})};
  }
  // How far three steps of all together are from each one's own.
  void ExpectNear(const std::string& profile, const std::vector<GenerationSpec>& specs,
                  double bound) {
    const auto plan = DeviceUnderTest()->catalog.Plan(profile, {});
    ASSERT_TRUE(plan.ok()) << plan.status();
    kernels::KernelCounters counters;
    const kernels::Execution run{*plan, counters, nullptr, DeviceUnderTest()->stream};
    const Ops ops(run);
    Denoiser denoiser(model_->transformer, nullptr, VelocityGraphs::Cache::kMostBytes,
                      &model_->adapter_shelf->columns());
    std::vector<DenoiseState> alone, together;
    for (const GenerationSpec& spec : specs) alone.push_back(StateOf(spec, ops));
    together = alone;
    std::vector<DenoiseState*> all;
    for (DenoiseState& state : together) all.push_back(&state);
    for (int i = 0; i < kTinySteps; ++i) {
      for (DenoiseState& state : alone) denoiser.Step(ops, {&state});
      denoiser.Step(ops, all);
    }
    for (size_t i = 0; i < alone.size(); ++i) {
      EXPECT_LT(Compare(profile + ", packed video " + std::to_string(i), together[i].tokens.x,
                        alone[i].tokens.x)
                    .relative,
                bound);
    }
  }

  const c10::InferenceMode no_gradients_;
  std::unique_ptr<LtxModel> model_;
};

TEST_F(PackedAdapters, AreEachVideosOwnInOneCall) {
  std::vector<GenerationSpec> specs = Specs();
  specs.insert(specs.begin() + 1, TinySpec("text"));  // and those of videos without any
  ExpectNear("auto", specs, 1e-5);
}

// A code that falls to the other side of a rounding is a whole code off.
TEST_F(PackedAdapters, AreEachVideosOwnInEightBits) {
  for (const char* profile : {"int8", "fp8"}) {
    const auto plan = DeviceUnderTest()->catalog.Plan(profile, {});
    if (!plan.ok()) continue;  // not of this device
    ExpectNear(profile, Specs(), 0.05);
  }
}

TEST_F(PackedAdapters, AreInTheBlocksThatTheCacheLeavesOutAndInThoseThatItMakes) {
  GenerationSpec cached = With(TinySpec("text"), {Named("style", 0.5)});
  cached.cache = {.threshold = 0, .most_reused = 1};
  const auto plan = DeviceUnderTest()->catalog.Plan(kernels::kCacheProfile, {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  kernels::KernelCounters counters;
  const kernels::Execution run{*plan, counters, nullptr, DeviceUnderTest()->stream};
  DenoiseState whole = StateOf(cached, Ops(test_.run)), parts = StateOf(cached, Ops(run));
  Denoiser denoiser(model_->transformer, nullptr, VelocityGraphs::Cache::kMostBytes,
                    &model_->adapter_shelf->columns());
  for (int i = 0; i < kTinySteps; ++i) {
    denoiser.Step(Ops(test_.run), {&whole});
    denoiser.Step(Ops(run), {&parts});
  }
  EXPECT_LT(Compare("in parts", parts.tokens.x, whole.tokens.x).relative, 1e-5);
}

TEST_F(PackedAdapters, LoseNoRecordedCallWhenTheyChange) {
  const Ops ops(test_.run);
  RecordCounts counts;
  VelocityGraphs graphs(model_->transformer,
                        std::make_unique<RerunRecorder>(test_.run.stream, counts));
  AdapterColumns& columns = model_->adapter_shelf->columns();
  const auto expect_same = [&](const std::vector<RequestAdapter>& adapters) {
    const auto taken = model_->adapter_shelf->Take(adapters);
    ASSERT_TRUE(taken.ok()) << taken.status();
    const AppliedAdapters* const job = &*taken;
    VelocityInputs inputs;
    const LatentShape shape = {2, 3, 5};
    inputs.x = Draw(1, {1, shape.tokens(), 8}).to(model_->device);
    inputs.time = model_->transformer.Times(ops, at::full({1}, 300.0f).to(model_->device));
    inputs.rope = MakeRopeTable(PlainCoordinates(shape, 25), 32).To(model_->device);
    inputs.text = model_->transformer.Prepare(ops, Draw(2, {1, 6, 32}).to(model_->device),
                                              at::ones({1, 6}).to(model_->device));
    inputs.adapters = columns.Place({&job, 1});
    const at::Tensor expected = model_->transformer.Velocity(ops, inputs);
    EXPECT_TRUE(graphs(ops, inputs).equal(expected));
  };
  for (int i = 0; i < 3; ++i) {
    expect_same({Named("style", 0.5)});
    expect_same({Named("turn")});
    expect_same({Named("turn", -1)});
  }
  EXPECT_EQ(counts.recorded, 1);
  EXPECT_EQ(counts.replays, 8);
  expect_same({Named("turn"), Named("style")});
  expect_same({Named("turn"), Named("style", 2)});
  EXPECT_EQ(counts.recorded, 2);  // of twice the columns
}

}  // namespace
}  // namespace reel::model::ltx
