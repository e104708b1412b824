// SPDX-License-Identifier: Apache-2.0
// The lossy profile "cache": a step that changes little takes over what an earlier one computed,
// each clip for itself, and nothing else changes.
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "model/bridge/torch_device.h"
#include "model/ltx/denoiser.h"
#include "model/ltx/ltx_generation.h"
#include "tests/unit/model/ltx/pipeline_run.h"

namespace reel::model::ltx {
namespace {

// No step of a sampler changes as little, and none of the tiny model as much.
constexpr double kHardlyAny = 1e-9, kAnyChange = 1;

class CacheProfile : public LtxPipeline {
 protected:
  void SetUp() override {
    LtxPipeline::SetUp();
    if (IsSkipped()) return;
    device_ = *TorchDeviceOf(DeviceUnderTest()->stream);
    auto_ = *DeviceUnderTest()->catalog.Plan("auto", {});
    cache_ = *DeviceUnderTest()->catalog.Plan("cache", {});
    pipeline_ = Load(folder_);
    ASSERT_NE(pipeline_, nullptr);
  }

  static GenerationSpec Spec(double threshold, int most_reused = 2, int steps = 7) {
    GenerationSpec spec;
    spec.prompt = "a boat";
    spec.width = 96;
    spec.height = 64;
    spec.num_frames = 9;
    spec.frame_rate = 25;
    spec.max_text_tokens = 24;
    spec.num_inference_steps = steps;
    spec.guidance_scale = 3;
    spec.image_condition_noise_scale = 0.15;
    spec.seed = 5;
    spec.cache = {.threshold = threshold, .most_reused = most_reused};
    return spec;
  }

  kernels::Execution Run(const kernels::KernelPlan& plan) {
    return {plan, counters_, nullptr, DeviceUnderTest()->stream};
  }

  std::unique_ptr<Generation> Ready(const GenerationSpec& spec, const kernels::KernelPlan& plan) {
    return Begin(*pipeline_, spec, Run(plan));
  }
  void Step(Generation& generation, const kernels::KernelPlan& plan, int steps) {
    for (int i = 0; i < steps; ++i) StepAll(*pipeline_, {&generation}, Run(plan));
  }
  at::Tensor Rendered(const GenerationSpec& spec, const kernels::KernelPlan& plan) {
    const auto generation = Ready(spec, plan);
    Step(*generation, plan, generation->num_steps());
    reused_ = generation->reused_steps();
    return LatentsOf(*pipeline_, *generation);
  }
  // Of the latest run.
  int64_t Calls(const std::string& op) const {
    int64_t calls = 0;
    for (const auto& use : counters_.Uses()) calls += use.op == op ? use.calls : 0;
    return calls;
  }

  const c10::InferenceMode no_gradients_;
  const TinyFolder folder_{"0.9.0"};
  at::Device device_ = at::kCPU;
  kernels::KernelPlan auto_, cache_;
  kernels::KernelCounters counters_;
  std::unique_ptr<Pipeline> pipeline_;
  int reused_ = 0;
};

LtxGeneration& Mine(const std::unique_ptr<Generation>& generation) {
  return static_cast<LtxGeneration&>(*generation);
}

TEST_F(CacheProfile, AtThresholdZeroIsAutoToTheBit) {
  const at::Tensor expected = Rendered(Spec(0.5), auto_);
  EXPECT_EQ(reused_, 0);
  EXPECT_TRUE(Rendered(Spec(0), cache_).equal(expected));
  EXPECT_EQ(reused_, 0);
  EXPECT_TRUE(Rendered(Spec(kAnyChange, 0), cache_).equal(expected));
  EXPECT_EQ(reused_, 0);
  EXPECT_EQ(Calls("step_cache"), 0);
}

// In parts, with a memory that nothing is taken from.
TEST_F(CacheProfile, FullStepsAreAutosToTheBit) {
  std::vector<GenerationSpec> specs(3, Spec(kHardlyAny));
  specs[1].guidance_scale = 1;
  specs[2].conditions = {Pinned(Pictures(1), 0, 1)};
  specs[2].condition_pipeline = ConditionPipeline::kImage;
  for (const GenerationSpec& spec : specs) {
    EXPECT_TRUE(Rendered(spec, cache_).equal(Rendered(spec, auto_)));
    EXPECT_EQ(Calls("step_cache"), 0);
  }
}

TEST_F(CacheProfile, ConditionedRunsReuseStepsToo) {
  const TinyFolder newer("0.9.5");
  pipeline_ = Load(newer);
  ASSERT_NE(pipeline_, nullptr);
  GenerationSpec spec = Spec(kHardlyAny);
  spec.conditions = {Pinned(Pictures(1), 0, 0.5), Pinned(Pictures(1, true), 8, 1)};
  spec.condition_pipeline = ConditionPipeline::kCondition;
  const at::Tensor expected = Rendered(spec, auto_);
  EXPECT_TRUE(Rendered(spec, cache_).equal(expected));
  EXPECT_EQ(reused_, 0);
  spec.cache.threshold = kAnyChange;
  const at::Tensor actual = Rendered(spec, cache_);
  EXPECT_EQ(reused_, 4);
  EXPECT_GT(Compare("reused, with conditions", actual, expected).relative, 1e-4);
}

TEST_F(CacheProfile, ReusesStepsBetweenFullOnesAndNeverTheFirstAndLast) {
  const at::Tensor expected = Rendered(Spec(0), auto_);
  counters_ = {};
  const at::Tensor actual = Rendered(Spec(kAnyChange), cache_);
  // Full, two reused, full, two reused, and the last one.
  EXPECT_EQ(reused_, 4);
  EXPECT_EQ(Calls("step_cache"), 4);
  // Of its two blocks a reused step has one.
  EXPECT_EQ(Calls("adaln_rms_norm"), 3 * 2 + 4);
  EXPECT_GT(Compare("reused", actual, expected).relative, 1e-4);
  EXPECT_TRUE(Rendered(Spec(kAnyChange), cache_).equal(actual));
  Rendered(Spec(kAnyChange, 16, 2), cache_);
  EXPECT_EQ(reused_, 0);
  Rendered(Spec(kAnyChange, 16), cache_);
  EXPECT_EQ(reused_, 5);
}

TEST_F(CacheProfile, AStepThatComesAgainIsReusedAndComesToTheSame) {
  const auto generation = Ready(Spec(kHardlyAny), cache_);
  DenoiseState& state = Mine(generation).state;
  const at::Tensor before = state.tokens.x;
  Step(*generation, cache_, 1);
  const at::Tensor expected = LatentsOf(*pipeline_, *generation);
  state.tokens.x = before;
  state.step = 0;
  Step(*generation, cache_, 1);
  EXPECT_EQ(generation->reused_steps(), 1);
  EXPECT_LT(Compare("again", LatentsOf(*pipeline_, *generation), expected).relative, 1e-5);
}

TEST_F(CacheProfile, StepsWithOtherRowsAreFull) {
  const auto generation = Ready(Spec(kAnyChange, 16), cache_);
  Guidance& guidance = Mine(generation).state.guidance;
  Step(*generation, cache_, 2);
  EXPECT_EQ(generation->reused_steps(), 1);
  guidance.points[0].scale = 5;  // the same rows
  Step(*generation, cache_, 1);
  EXPECT_EQ(generation->reused_steps(), 2);
  guidance.points[0].scale = 1;  // without the negative prompt
  Step(*generation, cache_, 1);
  EXPECT_EQ(generation->reused_steps(), 2);
  Step(*generation, cache_, 1);
  EXPECT_EQ(generation->reused_steps(), 3);
}

TEST_F(CacheProfile, WhatIsKeptIsCountedMovesAlongAndGoesWithTheLastStep) {
  const auto generation = Ready(Spec(kAnyChange), cache_);
  LtxGeneration& mine = Mine(generation);
  const int64_t bare = mine.device_bytes();
  Step(*generation, cache_, 1);
  // Of two rows of 15 tokens of 32 channels what the first block added, and what the other did.
  const int64_t tokens = mine.state.tokens.x.size(1);
  EXPECT_GE(mine.device_bytes(), bare + int64_t{2} * 2 * tokens * 32 * 4);
  mine.MoveTo(at::kMeta);
  EXPECT_EQ(mine.device_bytes(), 0);
  const auto other = Ready(Spec(kAnyChange), cache_);
  Step(*other, cache_, 7);
  EXPECT_FALSE(Mine(other).state.cache.first().defined());
}

TEST_F(CacheProfile, ParkedItGoesOnAsIfItHadNotBeen) {
  const at::Tensor expected = Rendered(Spec(kAnyChange), cache_);
  const auto generation = Ready(Spec(kAnyChange), cache_);
  for (int i = 0; i < 7; ++i) {
    ASSERT_TRUE(generation->Park(true).ok());
    EXPECT_TRUE(device_.is_cpu() || generation->device_bytes() == 0);
    ASSERT_TRUE(generation->Resume().ok());
    Step(*generation, cache_, 1);
  }
  EXPECT_EQ(generation->reused_steps(), 4);
  EXPECT_TRUE(LatentsOf(*pipeline_, *generation).equal(expected));
}

TEST_F(CacheProfile, AFailedStepLeavesWhatIsKept) {
  const at::Tensor expected = Rendered(Spec(kAnyChange), cache_);
  const auto generation = Ready(Spec(kAnyChange), cache_);
  Step(*generation, cache_, 1);
  // A plan of the same profile without the variants of libtorch cannot step.
  const kernels::KernelPlan bare("cache", {});
  const auto statuses = pipeline_->Step({{generation.get()}}, Run(bare));
  EXPECT_FALSE(statuses[0].ok());
  Step(*generation, cache_, 6);
  EXPECT_TRUE(LatentsOf(*pipeline_, *generation).equal(expected));
}

// Whole steps of several clips in one call, as a GPU makes them.
class PackedCache : public CacheProfile {
 protected:
  void SetUp() override {
    CacheProfile::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    transformer_ = LoadTransformer(folder_, device_);
    ASSERT_NE(transformer_, nullptr);
  }

  std::unique_ptr<Transformer> transformer_;
};

TEST_F(PackedCache, EachClipDecidesForItself) {
  std::vector<GenerationSpec> specs(4, Spec(kAnyChange));
  specs[1].cache.threshold = kHardlyAny;
  specs[1].seed = 6;
  specs[2].cache.most_reused = 1;
  specs[2].guidance_scale = 1;
  specs[3].cache.threshold = 0;
  specs[3].prompt = "a bird";
  std::vector<at::Tensor> alone;
  std::vector<int> reused;
  for (const GenerationSpec& spec : specs) {
    alone.push_back(Rendered(spec, cache_));
    reused.push_back(reused_);
  }
  EXPECT_THAT(reused, ::testing::ElementsAre(4, 0, 3, 0));
  std::vector<std::unique_ptr<Generation>> together;
  std::vector<DenoiseState*> states;
  for (const GenerationSpec& spec : specs) {
    together.push_back(Ready(spec, cache_));
    states.push_back(&Mine(together.back()).state);
  }
  Denoiser denoiser(*transformer_);
  counters_ = {};
  const kernels::Execution run = Run(cache_);
  const Ops ops(run);
  for (int i = 0; i < 7; ++i) denoiser.Step(ops, states);
  EXPECT_EQ(Calls("step_cache"), 7);
  for (size_t i = 0; i < specs.size(); ++i) {
    EXPECT_EQ(together[i]->reused_steps(), reused[i]) << i;
    EXPECT_LT(Compare("packed", LatentsOf(*pipeline_, *together[i]), alone[i]).relative, 1e-4) << i;
  }
}

TEST(StepCacheOf, NothingIsNotLittleChange) {
  StepCache cache({.threshold = 1, .most_reused = 4});
  const GuidancePoint point;
  EXPECT_FALSE(cache.Has(point));
  cache.Keep(point, at::zeros({1, 2, 4}), at::zeros({1, 2, 4}));
  EXPECT_TRUE(cache.Has(point));
  const auto change = [&](const at::Tensor& added) { return cache.ChangeOf(added).item<float>(); };
  EXPECT_FALSE(cache.Allows(change(at::zeros({1, 2, 4}))));
  EXPECT_FALSE(cache.Allows(change(at::ones({1, 2, 4}))));
  cache.Keep(point, at::full({1, 2, 4}, -2.0), at::zeros({1, 2, 4}));
  EXPECT_FLOAT_EQ(change(at::full({1, 2, 4}, -2.5)), 0.25f);
  EXPECT_TRUE(cache.Allows(0.25));
  EXPECT_FALSE(cache.Allows(1));
  EXPECT_FALSE(cache.Allows(std::numeric_limits<double>::quiet_NaN()));
  cache.Forget();
  EXPECT_FALSE(cache.Has(point));
}

}  // namespace
}  // namespace reel::model::ltx
