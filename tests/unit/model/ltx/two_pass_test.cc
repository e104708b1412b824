// SPDX-License-Identifier: Apache-2.0
// Latent upsamplers, and videos made in two passes with one of them between, against diffusers.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "model/bridge/torch_device.h"
#include "model/ltx/ltx_pipeline.h"
#include "model/ltx/second_pass.h"
#include "model/pass_work.h"
#include "model/resolve.h"
#include "model/vae/latent_upsampler.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx/pipeline_run.h"

namespace reel::model::ltx {
namespace {

constexpr int kSide = 96;
constexpr int64_t kTwoPassStride = 31;
constexpr char kPreset[] = "2b-0.9.8-distilled-two-pass";

// On a GPU this loads libtorch's half for it.
at::Device Device() { return *TorchDeviceOf(DeviceUnderTest()->stream); }

absl::StatusOr<LatentUpsampler> LoadUpsampler(const TinyFolder& folder) {
  const std::string part = folder.path() + "/latent_upsampler";
  const auto config = ReadUpsamplerConfig(*ReadJsonFile(part + "/config.json"), part);
  if (!config.ok()) return config.status();
  return LatentUpsampler::Load(*WeightSet::OpenFolder(part, "diffusion_pytorch_model"), *config,
                               at::kFloat, Device());
}

class Upsampler : public LtxPipeline {
 protected:
  const c10::InferenceMode no_gradients_;
  const TestRun test_;
  const Ops ops_{test_.run};
  const Golden golden_ = Golden::In("upsampler");
};

class EveryUpsampler : public Upsampler, public ::testing::WithParamInterface<std::string> {};

TEST_P(EveryUpsampler, EqualsDiffusers) {
  const TinyFolder folder("0.9.5");
  folder.AddUpsampler(GetParam());
  const auto upsampler = LoadUpsampler(folder);
  ASSERT_TRUE(upsampler.ok()) << upsampler.status();
  const at::Tensor latents = (*upsampler)(ops_, Draw(41, {1, 8, 3, 2, 3}).to(Device())).cpu();
  EXPECT_LT(Compare("upsampler " + GetParam(), latents, golden_[GetParam()]).relative, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryUpsampler,
                         ::testing::Values("spatial", "temporal", "both", "flat"));

TEST_F(Upsampler, MatchesStatisticsAndMapsTonesAsDiffusers) {
  const TinyFolder folder("0.9.5");
  folder.AddUpsampler("spatial");
  const auto upsampler = LoadUpsampler(folder);
  ASSERT_TRUE(upsampler.ok()) << upsampler.status();
  const auto vae = WeightSet::OpenFolder(folder.path() + "/vae", "diffusion_pytorch_model");
  Weights weights(*vae, at::kFloat, Device());
  const auto statistic = [&weights](const char* name) {
    return weights.Take(name, {8}).view({1, -1, 1, 1, 1});
  };
  const LatentStatistics statistics = {statistic("latents_mean"), statistic("latents_std"), 1};
  const at::Tensor low = Draw(42, {1, 8, 3, 2, 3}).to(Device());
  const std::map<std::string, UpsampleTouch> touches = {
      {"pipeline.0.0.0.0", {0, 0}}, {"pipeline.1.0.0.0", {1, 0}}, {"pipeline.0.4.0.6", {0.4, 0.6}}};
  for (const auto& [name, touch] : touches) {
    const at::Tensor high = UpsampleLatents(ops_, *upsampler, statistics, touch, low).cpu();
    EXPECT_LT(Compare(name, high, golden_[name]).relative, 1e-4);
  }
}

class BadUpsamplerConfig : public ::testing::TestWithParam<const char*> {};

TEST_P(BadUpsamplerConfig, IsRefused) {
  const auto status = ReadUpsamplerConfig(*ParseJson(GetParam(), "up"), "up").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("up"));
}

INSTANTIATE_TEST_SUITE_P(All, BadUpsamplerConfig,
                         ::testing::Values(R"({"mid_channels":33})", R"({"in_channels":0})",
                                           R"({"dims":1})", R"({"num_blocks_per_stage":-1})",
                                           R"({"spatial_upsample":false})",
                                           R"({"dims":2,"temporal_upsample":true})",
                                           R"({"mid_channels":"512"})"));

TEST(UpsamplerConfig, TakesTheClassDefaultsForWhatIsMissing) {
  const auto config = ReadUpsamplerConfig(*ParseJson("{}", "up"), "up");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->channels, 128);
  EXPECT_EQ(config->width, 512);
  EXPECT_EQ(config->blocks, 4);
  EXPECT_TRUE(config->spatial && !config->temporal && !config->flat);
}

TEST_F(Upsampler, IsRefusedWhenAWeightIsMissing) {
  const TinyFolder folder("0.9.5");
  folder.AddUpsampler("spatial");
  const std::string config = folder.path() + "/latent_upsampler/config.json";
  std::ofstream(config) << R"({"in_channels":8,"mid_channels":32,"num_blocks_per_stage":2})";
  const auto status = LoadUpsampler(folder).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("res_blocks.1."));
}

GenerationSpec Spec(bool pinned) {
  GenerationSpec spec;
  spec.preset = kPreset;
  spec.prompt = "a red fox walks through a snowy forest. cinematic, 35mm film";
  spec.negative_prompt = "worst quality, blurry";
  spec.width = spec.height = kSide;
  spec.num_frames = 9;
  spec.frame_rate = 25;
  spec.seed = 0;
  spec.max_text_tokens = 24;
  if (pinned) {
    spec.guidance_scale = 3;
    spec.conditions = {Pinned(Pictures(1, false, kSide, kSide), 0, 1)};
    spec.conditions[0].size_bytes = 1;
  }
  return spec;
}

class TwoPass : public LtxPipeline {
 protected:
  void SetUp() override {
    LtxPipeline::SetUp();
    if (IsSkipped()) return;
    folder_.AddUpsampler("spatial");
    pipeline_ = Load(folder_);
    ASSERT_NE(pipeline_, nullptr);
  }

  GenerationSpec Resolved(const GenerationSpec& spec) const {
    Resolution resolution = Resolve(spec, pipeline_->card(), RequestLimits(), 0);
    EXPECT_TRUE(resolution.ok()) << resolution.violations[0].description;
    return resolution.spec;
  }

  const TinyFolder folder_{"0.9.5"};
  std::unique_ptr<Pipeline> pipeline_;
};

class TwoPassGolden : public TwoPass,
                      public ::testing::WithParamInterface<std::tuple<bool, PlanSource>> {};

TEST_P(TwoPassGolden, EqualsDiffusersAfterEveryStepAndInTheFrames) {
  const auto& [pinned, source] = GetParam();
  const Golden golden = Golden::In("upsampler");
  const std::string name = pinned ? "pinned" : "distilled";
  TestRun test(source);
  const auto generation = Begin(*pipeline_, Resolved(Spec(pinned)), test.run);
  ASSERT_NE(generation, nullptr);
  const at::Tensor first = golden[name + ".first"], second = golden[name + ".second"];
  // The reference's second pass ends with a step that goes nowhere.
  ASSERT_EQ(generation->num_steps(), first.size(0) + second.size(0) - 1);
  for (int i = 0; i < generation->num_steps(); ++i) {
    ASSERT_NO_FATAL_FAILURE(StepAll(*pipeline_, {generation.get()}, test.run));
    EXPECT_EQ(generation->step(), i + 1);
    const bool is_first = i < first.size(0);
    const at::Tensor expected = is_first ? first[i][0] : second[i - first.size(0)][0];
    const at::Tensor tokens = LatentsOf(*pipeline_, *generation).flatten(1).transpose(0, 1);
    EXPECT_LT(Compare(name + " step " + std::to_string(i + 1), tokens, expected).relative,
              kLatentBound);
  }
  EXPECT_TRUE(second[second.size(0) - 1].equal(second[second.size(0) - 2]));
  const CollectingSink sink = DecodeAll(*pipeline_, *generation, test.run);
  EXPECT_EQ(sink.num_frames, 9);
  const at::Tensor frames = sink.Values();
  EXPECT_EQ(frames.numel(), 9 * kSide * kSide * 3);
  EXPECT_LT(Compare(name + " frames", frames.slice(0, 0, std::nullopt, kTwoPassStride),
                    golden[name + ".frames"])
                .worst,
            kFrameBound);
}

INSTANTIATE_TEST_SUITE_P(Requests, TwoPassGolden,
                         ::testing::Combine(::testing::Bool(),
                                            ::testing::Values(PlanSource::kLibtorch,
                                                              PlanSource::kKernels)));

TEST_F(TwoPass, SharesStepsWithOthersOnBothSidesOfTheUpsampling) {
  TestRun test;
  GenerationSpec plain = Resolved(Spec(false));
  plain.preset = "";
  const std::vector<GenerationSpec> specs = {Resolved(Spec(true)), plain};
  std::vector<at::Tensor> alone;
  std::vector<std::unique_ptr<Generation>> together;
  for (const GenerationSpec& spec : specs) {
    const auto generation = Begin(*pipeline_, spec, test.run);
    for (int i = 0; i < 7; ++i) StepAll(*pipeline_, {generation.get()}, test.run);
    if (generation->num_steps() > 7) StepAll(*pipeline_, {generation.get()}, test.run);
    alone.push_back(LatentsOf(*pipeline_, *generation));
    together.push_back(Begin(*pipeline_, spec, test.run));
  }
  StepAll(*pipeline_, {together[0].get()}, test.run);
  const int64_t rows = together[0]->rows();
  for (int i = 0; i < 7; ++i) {
    ASSERT_TRUE(together[0]->Park(true).ok());
    ASSERT_TRUE(together[0]->Resume().ok());
    StepAll(*pipeline_, {together[1].get(), together[0].get()}, test.run);
  }
  EXPECT_EQ(together[0]->rows(), 4 * rows);
  for (size_t i = 0; i < specs.size(); ++i) {
    const at::Tensor latents = LatentsOf(*pipeline_, *together[i]);
    if (test.run.stream.device < 0) {
      EXPECT_TRUE(latents.equal(alone[i])) << i;
    } else {  // where both sizes share a call of the transformer
      EXPECT_LT(Compare("shared steps " + std::to_string(i), latents, alone[i]).relative, 2e-5);
    }
  }
}

struct Asked {
  int width, height;
  double guidance, strength;
};

class TwoPassCard : public TwoPass, public ::testing::WithParamInterface<Asked> {};

// The card alone says what each step of the generation will come to.
TEST_P(TwoPassCard, KnowsStepsAndRowsOfBothPasses) {
  TestRun test;
  GenerationSpec spec = Spec(false);
  spec.width = GetParam().width;
  spec.height = GetParam().height;
  spec.guidance_scale = GetParam().guidance;
  spec.denoise_strength = GetParam().strength;
  const GenerationSpec resolved = Resolved(spec);
  const std::vector<PassWork> passes = PassesOf(resolved, pipeline_->card());
  ASSERT_EQ(passes.size(), 2u);
  const auto generation = Begin(*pipeline_, resolved, test.run);
  ASSERT_NE(generation, nullptr);
  EXPECT_EQ(generation->num_steps(), passes[0].steps + passes[1].steps);
  for (int i = 0; i < generation->num_steps(); ++i) {
    const PassWork& pass = passes[i < passes[0].steps ? 0 : 1];
    EXPECT_EQ(generation->rows(), pass.rows) << "before step " << i + 1;
    ASSERT_NO_FATAL_FAILURE(StepAll(*pipeline_, {generation.get()}, test.run));
  }
  EXPECT_EQ(generation->num_steps(), passes[0].steps + passes[1].steps);
  const at::Tensor latents = LatentsOf(*pipeline_, *generation);
  EXPECT_EQ(latents.size(1) * latents.size(2) * latents.size(3), passes[1].tokens);
}

INSTANTIATE_TEST_SUITE_P(Requests, TwoPassCard,
                         ::testing::Values(Asked{96, 96, 1, 1}, Asked{160, 64, 3, 1},
                                           Asked{128, 224, 1, 0.5}));

// Conditions inside a video add frames of their own to both passes.
TEST_F(TwoPass, KnowsTheRowsOfItsNextStepBeforeThePassBegins) {
  TestRun test;
  GenerationSpec spec = Spec(true);
  spec.conditions[0].frame_index = 8;
  const auto generation = Begin(*pipeline_, Resolved(spec), test.run);
  ASSERT_NE(generation, nullptr);
  for (int i = 0; i < 7; ++i) StepAll(*pipeline_, {generation.get()}, test.run);
  const int64_t planned = generation->rows();
  StepAll(*pipeline_, {generation.get()}, test.run);
  EXPECT_EQ(planned, generation->rows());
  EXPECT_EQ(planned, 2 * (2 + 1) * 4 * 4);
}

TEST_F(TwoPass, IsRefusedByTheCardWhereItIsTooLarge) {
  ModelCard card = pipeline_->card();
  card.limits.max_latent_tokens = 31;  // of the 32 of its second pass
  const Resolution resolution = Resolve(Spec(false), card, RequestLimits(), 0);
  ASSERT_EQ(resolution.violations.size(), 1u);
  EXPECT_EQ(resolution.violations[0].field, "num_frames");
  card.limits.max_latent_tokens = 32;
  EXPECT_TRUE(Resolve(Spec(false), card, RequestLimits(), 0).ok());
  GenerationSpec small = Spec(false);
  small.width = 32;
  const Resolution too_small = Resolve(small, card, RequestLimits(), 0);
  ASSERT_EQ(too_small.violations.size(), 1u);
  EXPECT_EQ(too_small.violations[0].field, "width");
}

TEST_F(TwoPass, IsOfferedWhereThereIsAnUpsampler) {
  const auto names = [](const Pipeline& pipeline) {
    std::vector<std::string> found;
    for (const Preset& preset : pipeline.card().presets) found.push_back(preset.name);
    return found;
  };
  EXPECT_THAT(names(*pipeline_), ::testing::Contains(kPreset));
  EXPECT_EQ(pipeline_->card().parameters, 52584 + 50880 + 1684918 + 16 + 161896);
  const auto without = Load(TinyFolder("0.9.5"));
  EXPECT_THAT(names(*without), ::testing::Not(::testing::Contains(kPreset)));
}

// The same weights as they are released: one file, its configuration in the metadata.
std::string InOneFile(const std::string& weights, const nlohmann::json& config) {
  uint64_t size = 0;
  std::memcpy(&size, weights.data(), sizeof size);
  nlohmann::json header = nlohmann::json::parse(weights.substr(sizeof size, size));
  header["__metadata__"] = {{"config", config.dump()}};
  return SafetensorsBytes(header.dump(), weights.substr(sizeof size + size));
}

std::string Contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST_F(TwoPass, TakesAnUpsamplerInOneFileToo) {
  const std::string part = folder_.path() + "/latent_upsampler", file = part + ".safetensors";
  const nlohmann::json config = *ReadJsonFile(part + "/config.json");
  const std::string weights = Contents(part + "/diffusion_pytorch_model.safetensors");
  std::filesystem::remove_all(part);
  std::ofstream(file, std::ios::binary) << InOneFile(weights, config);
  const auto with = Load(folder_);
  ASSERT_NE(with, nullptr);
  EXPECT_EQ(with->card().parameters, pipeline_->card().parameters);

  std::ofstream(file, std::ios::binary) << weights;  // says nothing of itself
  LoadOptions options;
  options.path = folder_.path();
  const auto status = LoadLtxPipeline(options, DeviceUnderTest()->stream).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              ::testing::HasSubstr("latent_upsampler.safetensors: metadata"));
}

TEST_F(TwoPass, RefusesWhatHasNoFirstPassAndUpsamplersOfTime) {
  TestRun test;
  GenerationSpec spec = Resolved(Spec(false));
  spec.width = 32;
  EXPECT_EQ(pipeline_->Create(spec, test.run).status().code(), absl::StatusCode::kInvalidArgument);
  const TinyFolder folder("0.9.5");
  folder.AddUpsampler("temporal");
  LoadOptions options;
  options.path = folder.path();
  const auto status = LoadLtxPipeline(options, DeviceUnderTest()->stream).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("temporal_upsample"));
}

// The sizes that the original recipe has for its usual video.
TEST(PassSizes, AreTwoThirdsAndTwiceThat) {
  const auto first = FirstPassSize({1216, 704});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->width, 800);
  EXPECT_EQ(first->height, 448);
  EXPECT_EQ(SecondPassSize(*first).width, 1600);
  EXPECT_EQ(SecondPassSize(*first).height, 896);
}

}  // namespace
}  // namespace reel::model::ltx
