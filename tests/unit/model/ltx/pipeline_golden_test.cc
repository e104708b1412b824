// SPDX-License-Identifier: Apache-2.0
// Whole requests against diffusers' pipelines: the latents after every step, and the frames.
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/ltx/ltx_pipeline.h"
#include "model/resolve.h"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx/pipeline_run.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model::ltx {
namespace {

constexpr int kHeight = kPictureHeight, kWidth = kPictureWidth;
constexpr int64_t kFrameStride = 7;

class PipelineGolden
    : public LtxPipeline,
      public ::testing::WithParamInterface<std::tuple<std::string, std::string, PlanSource>> {};

TEST_P(PipelineGolden, EqualsDiffusersAfterEveryStepAndInTheFrames) {
  const auto& [version, kind, source] = GetParam();
  const TinyFolder folder(version);
  if (kind == "condition") folder.TakeSchedulerOf("0.9.5");
  const Golden golden(version);
  const auto pipeline = Load(folder);
  ASSERT_NE(pipeline, nullptr);
  TestRun test(source);
  const auto generation = Begin(*pipeline, TinySpec(kind), test.run);
  ASSERT_NE(generation, nullptr);
  ASSERT_EQ(generation->num_steps(), kTinySteps);
  const std::string label =
      version + " " + kind + (source == PlanSource::kKernels ? ", own kernels" : "");
  const at::Tensor steps = golden[kind + ".latents"];  // [steps, 1, S, C]
  for (int i = 0; i < kTinySteps; ++i) {
    ASSERT_NO_FATAL_FAILURE(StepAll(*pipeline, {generation.get()}, test.run));
    const at::Tensor latents = LatentsOf(*pipeline, *generation);
    const at::Tensor tokens = latents.flatten(1).transpose(0, 1);
    const at::Tensor expected = steps[i][0].slice(0, steps.size(2) - tokens.size(0));
    EXPECT_LT(Compare(label + " step " + std::to_string(i + 1), tokens, expected).relative,
              kLatentBound);
  }
  const CollectingSink sink = DecodeAll(*pipeline, *generation, test.run);
  EXPECT_EQ(sink.num_frames, TinySpec(kind).num_frames);
  // Bounded pieces, whatever the clip; on a GPU a clip as small as this is one.
  const bool on_cpu = test.run.stream.device < 0;
  EXPECT_LE(sink.most, on_cpu ? 8 : TinySpec(kind).num_frames);
  const at::Tensor frames = sink.Values().slice(0, 0, std::nullopt, kFrameStride);
  EXPECT_LT(Compare(label + " frames", frames, golden[kind + ".frames"]).worst, kFrameBound);
}

INSTANTIATE_TEST_SUITE_P(Generations, PipelineGolden,
                         ::testing::Combine(::testing::Values("0.9.0", "0.9.1", "0.9.5"),
                                            ::testing::Values("text", "image", "condition"),
                                            ::testing::Values(PlanSource::kLibtorch,
                                                              PlanSource::kKernels)));

// Bit for bit on a CPU. On a GPU some of these share a call of the transformer.
void ExpectSame(const at::Tensor& actual, const at::Tensor& alone, const std::string& what) {
  if (DeviceUnderTest()->stream.device < 0) {
    EXPECT_TRUE(actual.equal(alone)) << what;
  } else {
    EXPECT_LT(Compare(what, actual, alone).relative, kLatentBound);
  }
}

TEST_F(LtxPipeline, AStepOfSeveralIsEachOnesOwnStep) {
  const TinyFolder folder("0.9.5");
  const auto pipeline = Load(folder);
  ASSERT_NE(pipeline, nullptr);
  TestRun test;
  std::vector<GenerationSpec> specs = {TinySpec("text"), TinySpec("image"), TinySpec("condition"),
                                       TinySpec("text"), TinySpec("text")};
  specs[3].width = 64;
  specs[3].num_frames = 9;
  specs[3].guidance_scale = 1;
  specs[3].seed = 7;
  specs[3].num_inference_steps = 5;
  specs[4].prompt = "two boats on a lake";  // as large as the first, otherwise another
  specs[4].guidance_scale = 1;
  specs[4].seed = 8;
  specs[4].num_inference_steps = 4;
  std::vector<at::Tensor> alone;
  std::vector<std::unique_ptr<Generation>> together;
  for (const GenerationSpec& spec : specs) {
    const auto generation = Begin(*pipeline, spec, test.run);
    for (int i = 0; i < kTinySteps; ++i) StepAll(*pipeline, {generation.get()}, test.run);
    alone.push_back(LatentsOf(*pipeline, *generation));
    together.push_back(Begin(*pipeline, spec, test.run));
  }
  const auto step = [&](const std::vector<size_t>& which) {
    std::vector<Generation*> batch;
    for (const size_t i : which) batch.push_back(together[i].get());
    StepAll(*pipeline, batch, test.run);
  };
  step({2, 0, 4});
  const int64_t held = together[0]->device_bytes();
  ASSERT_TRUE(together[0]->Park(true).ok());
  EXPECT_EQ(together[0]->device_bytes(), test.run.stream.device < 0 ? held : 0);
  step({3, 1, 2});
  ASSERT_TRUE(together[0]->Resume().ok());
  EXPECT_EQ(together[0]->device_bytes(), held);
  step({0, 3, 4});
  step({1, 4, 0});
  step({2, 3, 1});
  for (size_t i = 0; i < specs.size(); ++i) {
    ExpectSame(LatentsOf(*pipeline, *together[i]), alone[i], "shared steps " + std::to_string(i));
  }
}

TEST_F(LtxPipeline, APreviewAndALookAtTheLatentsChangeNothing) {
  const TinyFolder folder("0.9.1");
  const auto pipeline = Load(folder);
  ASSERT_NE(pipeline, nullptr);
  TestRun test;
  std::vector<std::vector<uint8_t>> videos;
  for (const bool looks : {false, true}) {
    const auto generation = Begin(*pipeline, TinySpec("text"), test.run);
    for (int i = 0; i < kTinySteps; ++i) {
      StepAll(*pipeline, {generation.get()}, test.run);
      if (!looks) continue;
      const auto preview = pipeline->Preview(*generation, 48, test.run);
      ASSERT_TRUE(preview.ok()) << preview.status();
      EXPECT_EQ(preview->width, 48);
      EXPECT_EQ(preview->height, 32);
      EXPECT_EQ(preview->pixels.size(), 48u * 32 * 3);
    }
    videos.push_back(DecodeAll(*pipeline, *generation, test.run, FrameFormat::kI420).data);
  }
  EXPECT_EQ(videos[0].size(), 17u * kHeight * kWidth * 3 / 2);
  EXPECT_EQ(videos[0], videos[1]);
}

class SixteenBits
    : public LtxPipeline,
      public ::testing::WithParamInterface<std::tuple<std::string, std::string, PlanSource>> {};

TEST_P(SixteenBits, AreNotTwiceAsFarFromThirtyTwoAsDiffusersAre) {
  const auto& [version, kind, source] = GetParam();
  const TinyFolder folder(version);
  if (kind == "condition") folder.TakeSchedulerOf("0.9.5");
  const auto pipeline = Load(folder, "bf16");
  ASSERT_NE(pipeline, nullptr);
  TestRun test(source);
  const auto generation = Begin(*pipeline, TinySpec(kind), test.run);
  ASSERT_NE(generation, nullptr);
  for (int i = 0; i < kTinySteps; ++i) StepAll(*pipeline, {generation.get()}, test.run);
  const at::Tensor ours = LatentsOf(*pipeline, *generation).flatten(1).transpose(0, 1);
  const auto video = [&ours](const at::Tensor& tokens) {
    return tokens[0].slice(0, tokens.size(1) - ours.size(0));
  };
  const at::Tensor exact = video(Golden(version)[kind + ".latents"][kTinySteps - 1]);
  const at::Tensor theirs = video(Golden::In("bf16")[version + "." + kind]);
  const auto distance = [&exact](const at::Tensor& x) {
    return (x - exact).pow(2).mean().sqrt().item<double>();
  };
  const double ratio = distance(ours) / distance(theirs);
  std::printf("%s %s bf16: %.3f of diffusers' error\n", version.c_str(), kind.c_str(), ratio);
  EXPECT_LT(ratio, 2);
}

INSTANTIATE_TEST_SUITE_P(Generations, SixteenBits,
                         ::testing::Combine(::testing::Values("0.9.0", "0.9.1", "0.9.5"),
                                            ::testing::Values("text", "image", "condition"),
                                            ::testing::Values(PlanSource::kLibtorch,
                                                              PlanSource::kKernels)));

TEST_F(LtxPipeline, RefusesWhatItCannotRender) {
  const TinyFolder folder("0.9.0");  // dynamic schedule
  const auto pipeline = Load(folder);
  ASSERT_NE(pipeline, nullptr);
  TestRun test;
  const auto code = [&](const GenerationSpec& spec) {
    return pipeline->Create(spec, test.run).status().code();
  };
  GenerationSpec spec = TinySpec("text");
  spec.width = 100;
  EXPECT_EQ(code(spec), absl::StatusCode::kInvalidArgument);
  spec = TinySpec("text");
  spec.num_frames = 16;
  EXPECT_EQ(code(spec), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(TinySpec("condition")), absl::StatusCode::kInvalidArgument);
  spec = TinySpec("image");
  spec.conditions[0].pixels = nullptr;
  EXPECT_EQ(code(spec), absl::StatusCode::kInvalidArgument);
  spec.conditions[0].pixels = Pictures(1);
  spec.height = 96;
  EXPECT_EQ(code(spec), absl::StatusCode::kInvalidArgument);
}

TEST_F(LtxPipeline, NamesWhatIsMissingInAFolder) {
  const reel::testing::TempFolder empty;
  LoadOptions options;
  options.path = empty.path();
  const auto status = LoadLtxPipeline(options, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(std::string(status.message()).find("scheduler_config.json"), std::string::npos);
}

TEST_F(LtxPipeline, HasACardWithWhatItCalls) {
  const TinyFolder folder("0.9.5");
  const auto pipeline = Load(folder);
  ASSERT_NE(pipeline, nullptr);
  EXPECT_EQ(pipeline->card().name, "tiny");
  EXPECT_EQ(pipeline->card().family, "LTX-Video 0.9.5");
  EXPECT_EQ(pipeline->card().parameters, 52584 + 50880 + 1684918 + 16);
  EXPECT_FALSE(pipeline->card().calls.empty());
}

TEST_F(LtxPipeline, HasThePresetsOfTheReleasesWithItsParts) {
  const std::map<std::string, std::vector<std::string>> expected = {
      {"0.9.0", {"2b-0.9.0"}},
      {"0.9.1", {"2b-0.9.1"}},
      {"0.9.5", {"2b-0.9.5", "2b-0.9.6-dev", "2b-0.9.6-distilled", "2b-0.9.8-distilled"}}};
  for (const auto& [version, names] : expected) {
    const TinyFolder folder(version);
    const auto pipeline = Load(folder);
    ASSERT_NE(pipeline, nullptr);
    std::vector<std::string> found;
    for (const Preset& preset : pipeline->card().presets) {
      found.push_back(preset.name);
      GenerationSpec spec;
      spec.prompt = "a fox";
      spec.preset = preset.name;
      const Resolution resolved = Resolve(spec, pipeline->card(), RequestLimits(), 0);
      EXPECT_TRUE(resolved.ok()) << preset.name << ": " << resolved.violations[0].description;
      EXPECT_EQ(resolved.spec.decode_timestep, version == "0.9.0" ? 0 : 0.05);
    }
    EXPECT_EQ(found, names);
  }
}

// A caller who sets nothing gets what a call of diffusers' pipeline gets.
TEST_F(LtxPipeline, DefaultsAreThoseOfTheReference) {
  const TinyFolder folder("0.9.5");
  const auto pipeline = Load(folder);
  ASSERT_NE(pipeline, nullptr);
  const GenerationSpec& defaults = pipeline->card().defaults;
  EXPECT_EQ(defaults.negative_prompt, "");
  EXPECT_EQ(defaults.width, 704);
  EXPECT_EQ(defaults.height, 512);
  EXPECT_EQ(defaults.num_frames, 161);
  EXPECT_EQ(defaults.num_inference_steps, 50);
  EXPECT_EQ(defaults.guidance_scale, 3);
  EXPECT_EQ(defaults.guidance_rescale, 0);
  EXPECT_EQ(defaults.decode_timestep, 0);
  EXPECT_EQ(defaults.image_condition_noise_scale, 0.15);
  EXPECT_EQ(defaults.max_text_tokens, 0);  // 128 or 256, as the pipeline has it
}

}  // namespace
}  // namespace reel::model::ltx
