// SPDX-License-Identifier: Apache-2.0
// A video on a group of devices against the same on one. A rank's matrices have fewer rows, and
// libraries choose algorithms by size. Two CPUs with whole rows agree bit for bit from some ten
// tokens on; elsewhere results are near each other.
#include <fstream>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx/pipeline_run.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model::ltx {
namespace {

bool OnCpu() { return DeviceUnderTest()->stream.device < 0; }

// Beside the device under test; none where there is one GPU alone. A CPU has one beside it.
std::vector<int> Peers() {
  const std::vector<int>& peers = DeviceUnderTest()->peers;
  return OnCpu() && peers.empty() ? std::vector<int>{-1} : peers;
}

// `bound` of the expected values' deviation, where they need not be the same bits.
struct Sameness {
  bool bits = OnCpu();
  double bound = kLatentBound;
};

void ExpectSame(const at::Tensor& actual, const at::Tensor& expected, const std::string& what,
                Sameness sameness = {}) {
  const double difference = Compare(what, actual, expected).relative;
  if (sameness.bits) {
    EXPECT_TRUE(actual.equal(expected)) << what;
  } else {
    EXPECT_LT(difference, sameness.bound);
  }
}

struct Variation {
  std::string dtype = "fp32";
  bool parks = false;
  bool forgets = false;       // between steps, as where memory is short
  Sameness sameness = {};     // of the latents
  double frame_bound = 1e-5;  // on CPUs; of their deviation
  std::vector<int> peers = Peers();
};

// The latents after each step, and the frames.
struct Made {
  std::vector<at::Tensor> latents;
  at::Tensor frames;
};

class Group : public LtxPipeline {
 protected:
  void SetUp() override {
    LtxPipeline::SetUp();
    if (!IsSkipped() && Peers().empty()) GTEST_SKIP() << "SKIPPED: REEL_TEST_DEVICE is no group";
  }

  static Made Make(Pipeline& pipeline, const GenerationSpec& spec, const kernels::Execution& run,
                   const Variation& how = {}) {
    Made made;
    const auto generation = Begin(pipeline, spec, run);
    if (generation == nullptr) return made;
    while (generation->step() < generation->num_steps()) {
      StepAll(pipeline, {generation.get()}, run);
      if (::testing::Test::HasFatalFailure()) return made;
      made.latents.push_back(LatentsOf(pipeline, *generation));
      if (how.forgets) pipeline.ForgetKept();
      if (!how.parks) continue;
      EXPECT_TRUE(generation->Park(true).ok());
      EXPECT_TRUE(generation->Resume().ok());
    }
    made.frames = DecodeAll(pipeline, *generation, run).Values();
    return made;
  }

  static void ExpectSameVideo(const TinyFolder& folder, const GenerationSpec& spec,
                              const kernels::Execution& run, const std::string& what,
                              Variation how = {}) {
    const auto one = Load(folder, how.dtype), group = Load(folder, how.dtype, how.peers);
    ASSERT_NE(one, nullptr);
    ASSERT_NE(group, nullptr);
    const Made expected = Make(*one, spec, run), made = Make(*group, spec, run, how);
    ASSERT_EQ(made.latents.size(), expected.latents.size());
    for (size_t i = 0; i < made.latents.size(); ++i) {
      ExpectSame(made.latents[i], expected.latents[i], what + " step " + std::to_string(i + 1),
                 how.sameness);
    }
    const double frame_bound = OnCpu() ? how.frame_bound : kFrameBound;
    ExpectSame(made.frames, expected.frames, what + " frames",
               {.bits = false, .bound = frame_bound});
  }
};

class EveryPipeline
    : public Group,
      public ::testing::WithParamInterface<std::tuple<std::string, std::string, PlanSource>> {};

TEST_P(EveryPipeline, IsTheSameOnAGroup) {
  const auto& [version, kind, source] = GetParam();
  const TinyFolder folder(version);
  if (kind == "condition") folder.TakeSchedulerOf("0.9.5");
  const TestRun test(source);
  ExpectSameVideo(folder, TinySpec(kind), test.run, version + " " + kind);
}

INSTANTIATE_TEST_SUITE_P(Generations, EveryPipeline,
                         ::testing::Combine(::testing::Values("0.9.0", "0.9.1", "0.9.5"),
                                            ::testing::Values("text", "image", "condition"),
                                            ::testing::Values(PlanSource::kLibtorch,
                                                              PlanSource::kKernels)));

TEST_F(Group, OddSizesAreTheSame) {
  const TinyFolder folder("0.9.5");
  const TestRun test(PlanSource::kKernels);
  for (const auto& [width, height, frames] : std::vector<std::tuple<int, int, int>>{
           {32, 32, 1}, {96, 32, 9}, {160, 96, 25}, {32, 160, 9}}) {
    GenerationSpec spec = TinySpec("text");
    spec.width = width;
    spec.height = height;
    spec.num_frames = frames;
    ExpectSameVideo(folder, spec, test.run, std::to_string(width) + "x" + std::to_string(height),
                    {.sameness = {.bits = false}});
  }
}

// Of latents of one row to five: on four ranks some have none, some one more than others.
TEST_F(Group, OfThreeAndFourIsTheSame) {
  if (!OnCpu()) GTEST_SKIP() << "how many there are is the device's under test";
  const TinyFolder folder("0.9.1");
  const TestRun test;
  for (const size_t ranks : std::vector<size_t>{3, 4}) {
    for (const int height : {32, 96, 160}) {
      GenerationSpec spec = TinySpec("text");
      spec.height = height;
      ExpectSameVideo(folder, spec, test.run,
                      std::to_string(ranks) + " ranks, height " + std::to_string(height),
                      {.sameness = {.bits = false}, .peers = std::vector<int>(ranks - 1, -1)});
    }
  }
}

TEST_F(Group, TilesOfADecodeAreTheSame) {
  const TinyFolder folder("0.9.1");
  std::ofstream(folder.path() + "/reel.json")
      << R"({"vae_tiles": {"size": 64, "stride": 32}, "vae_frame_tiles": {"size": 16, "stride": 8}})";
  const TestRun test;
  GenerationSpec spec = TinySpec("text");
  spec.width = spec.height = 96;
  spec.num_frames = 25;
  ExpectSameVideo(folder, spec, test.run, "tiles", {.sameness = {.bits = false}});
}

TEST_F(Group, OneRowAndAnEmptyNegativePromptAreTheSame) {
  const TinyFolder folder("0.9.1");
  const TestRun test;
  GenerationSpec spec = TinySpec("text");
  spec.negative_prompt = "";
  ExpectSameVideo(folder, spec, test.run, "empty negative prompt");
  spec.guidance_scale = 1;
  // Of tokens that are divided, whose bits depend on how many there are and where they lie.
  ExpectSameVideo(folder, spec, test.run, "no guidance",
                  {.sameness = {.bits = false, .bound = OnCpu() ? 5e-6 : kLatentBound}});
}

TEST_F(Group, SixteenBitsAreTheSame) {
  if (!OnCpu()) GTEST_SKIP() << "the bound is for 32 bits";
  const TinyFolder folder("0.9.5");
  const TestRun test;
  ExpectSameVideo(folder, TinySpec("image"), test.run, "bf16",
                  {.dtype = "bf16", .frame_bound = 2e-2});
}

TEST_F(Group, AParkedVideoGoesOnTheSame) {
  const TinyFolder folder("0.9.0");
  const TestRun test;
  ExpectSameVideo(folder, TinySpec("text"), test.run, "parked", {.parks = true});
}

TEST_F(Group, WhatIsForgottenIsMadeAgainTheSame) {
  const TestRun test;
  ExpectSameVideo(TinyFolder("0.9.0"), TinySpec("text"), test.run, "forgotten", {.forgets = true});
}

TEST_F(Group, ItsRanksHaveLayersInEightBits) {
  const auto plan = DeviceUnderTest()->catalog.Plan("fp8", {});
  if (!plan.ok()) GTEST_SKIP() << "SKIPPED: " << plan.status();
  kernels::KernelCounters counters;
  const kernels::Execution run{*plan, counters, nullptr, DeviceUnderTest()->stream};
  ExpectSameVideo(TinyFolder("0.9.5"), TinySpec("text"), run, "fp8");
}

TEST_F(Group, ReusedStepsAreTheFirstRanks) {
  const auto plan = DeviceUnderTest()->catalog.Plan("cache", {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  kernels::KernelCounters counters;
  const kernels::Execution run{*plan, counters, nullptr, DeviceUnderTest()->stream};
  GenerationSpec spec = TinySpec("text");
  spec.num_inference_steps = 8;
  spec.cache.threshold = 10;  // every step that may be is reused
  ExpectSameVideo(TinyFolder("0.9.0"), spec, run, "cache");
  int64_t reused = 0;
  for (const auto& use : counters.Uses()) reused += use.op == "step_cache" ? use.calls : 0;
  EXPECT_GT(reused, 0);
}

// Of enough tokens that every device divides them, as often as calls are recorded and replayed.
GenerationSpec WholeSizeSpec(double guidance_scale, int steps) {
  GenerationSpec spec = TinySpec("text");
  spec.width = 768;
  spec.height = 512;
  spec.num_frames = 49;
  spec.guidance_scale = guidance_scale;
  spec.num_inference_steps = steps;
  return spec;
}

TEST_F(Group, StepsOfAWholeSizeAreTheSame) {
  const TinyFolder folder("0.9.5");
  const TestRun test(PlanSource::kKernels);
  const auto one = Load(folder), group = Load(folder, "fp32", Peers());
  ASSERT_NE(one, nullptr);
  ASSERT_NE(group, nullptr);
  for (int turn = 0; turn < (OnCpu() ? 1 : 3); ++turn) {
    for (const double scale : {1.0, 3.0}) {
      const GenerationSpec spec = WholeSizeSpec(scale, OnCpu() ? 2 : 6);
      const auto expected = Begin(*one, spec, test.run), made = Begin(*group, spec, test.run);
      while (made->step() < made->num_steps()) {
        StepAll(*one, {expected.get()}, test.run);
        StepAll(*group, {made.get()}, test.run);
        ASSERT_FALSE(HasFatalFailure());
        ExpectSame(LatentsOf(*group, *made), LatentsOf(*one, *expected),
                   "whole size, step " + std::to_string(made->step()),
                   {.bits = false, .bound = OnCpu() ? 5e-6 : kLatentBound});
      }
    }
    group->ForgetKept();
  }
}

// With guidance and without it: every rank has its part of each attention.
TEST_F(Group, CountsTheCallsOfAllItsRanks) {
  const TinyFolder folder("0.9.0");
  const TestRun test;
  const auto one = Load(folder, "fp32"), group = Load(folder, "fp32", Peers());
  ASSERT_NE(one, nullptr);
  ASSERT_NE(group, nullptr);
  const auto attentions = [&](Pipeline& pipeline, const GenerationSpec& spec) {
    const auto video = Begin(pipeline, spec, test.run);
    kernels::KernelCounters counters;
    const kernels::Execution run{test.plan, counters, nullptr, test.run.stream};
    StepAll(pipeline, {video.get()}, run);
    int64_t calls = 0;
    for (const auto& use : counters.Uses()) calls += use.op == "attention" ? use.calls : 0;
    return calls;
  };
  const auto ranks = static_cast<int64_t>(1 + Peers().size());
  for (const double scale : {1.0, 3.0}) {
    const GenerationSpec spec = WholeSizeSpec(scale, 2);
    const int64_t of_one = attentions(*one, spec);
    EXPECT_GT(of_one, 0);
    EXPECT_EQ(attentions(*group, spec), ranks * of_one);
  }
}

}  // namespace
}  // namespace reel::model::ltx
